// Relay: what a remote agent says about its task, told to the sink of ours.
//
// A connection may begin anew with the task as it is, so what was told already is kept: only what is new goes
// on. What the remote agent calls a status is a note until its task stops; that is the turn's outcome. Of
// what was told only marks are kept, not the content.
//
// Threads: one at a time. Nothing from the remote agent is trusted; sizes are the decoder's and the engine's
// to bound. All work is in proportion to what is told, and ends with the outcome or the turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agents/executor.h"
#include "agents/function_executor.h"
#include "protocol/a2a/client/updates.h"

namespace baton::agents {

class Relay {
 public:
  // `earlier`: what the task here has already; it is not told again.
  Relay(FunctionTurn& turn, const std::vector<task::Artifact>& earlier);

  // Takes the content of artifacts and messages out of `update`, but neither ids nor states.
  void tell(protocol::a2a::Update& update);

  bool has_told() const { return has_told_; }
  // The outcome once the remote task has stopped, or a message alone was the answer. A question has no id
  // yet.
  const std::optional<Outcome>& outcome() const { return outcome_; }

 private:
  // Tells whether another text is this one, or begins with it (FNV-1a).
  struct Mark {
    std::size_t size = 0;
    std::uint64_t hash = 0xcbf29ce484222325;

    void add(std::string_view text);
    bool begins(std::string_view text) const;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  static Mark mark_of(const task::Part& part);

  struct Told {
    std::vector<Mark> parts = {};  // of an artifact: as told so far
    Mark text = {};                // of the reply
    bool is_reply = false;         // it is told as the reply
    bool is_open_reply = false;
    bool is_new = true;  // nothing was told
  };

  void tell_task(task::Task& task);
  void tell_artifact(task::Artifact piece, bool append, bool last_chunk);
  void add_to_reply(Told& told, std::string text);
  void tell_reply(Told& told, std::string text);
  Told* place_of(const task::Artifact& piece);
  void set_open(Told& told, bool is_open);
  void tell_whole(task::Artifact artifact);
  void tell_status(const task::Status& status, const task::Json& metadata);

  FunctionTurn& turn_;
  std::unordered_map<std::string, Told> told_;  // by the artifact's id
  std::size_t open_replies_ = 0;
  std::unordered_set<std::string> earlier_replies_;
  bool has_told_ = false;
  std::optional<task::Message> note_;  // the last one
  std::optional<Outcome> outcome_;
};

}  // namespace baton::agents
