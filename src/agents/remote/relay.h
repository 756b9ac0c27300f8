// Relay: what a remote agent says about its task, told to the sink of ours.
//
// A connection may begin anew with the task as it is, so what was told already is kept: only what is new goes
// on. What the remote agent calls a status is a note until its task stops; that is the turn's outcome.
// Threads: one at a time. Nothing from the remote agent is trusted; sizes are the engine's to bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/function_executor.h"
#include "protocol/a2a/client/updates.h"

namespace baton::agents {

class Relay {
 public:
  // `earlier`: what the task here has already; it is not told again.
  Relay(FunctionTurn& turn, const std::vector<task::Artifact>& earlier);

  void tell(const protocol::a2a::Update& update);

  bool has_told() const { return has_told_; }
  // The outcome once the remote task has stopped, or a message alone was the answer. A question has no id
  // yet.
  const std::optional<Outcome>& outcome() const { return outcome_; }

 private:
  struct Told {
    task::Artifact whole;   // of an artifact: as told so far
    bool is_reply = false;  // it is told as the reply, with this text
    bool is_open_reply = false;
    bool is_new = true;  // nothing was told
    std::string text = {};
  };

  void tell_task(const task::Task& task);
  void tell_artifact(const task::Artifact& artifact, bool append, bool last_chunk);
  void tell_reply(Told& told, const std::string& text);
  Told& place_of(const task::Artifact& piece);
  void tell_whole(const task::Artifact& artifact);
  void tell_status(const task::Status& status, const task::Json& metadata);

  FunctionTurn& turn_;
  std::vector<Told> told_;
  std::vector<std::string> earlier_replies_;
  bool has_told_ = false;
  std::optional<task::Message> note_;  // the last one
  std::optional<Outcome> outcome_;
};

}  // namespace baton::agents
