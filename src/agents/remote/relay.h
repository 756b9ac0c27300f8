// Relay: passes a remote agent's updates of its task to the sink of the turn here.
//
// A new connection may begin with the whole task, so the relay remembers the content that it has passed
// on, as marks only, and passes on only new content. A status of the remote task is a note until the task
// stops; then it is the turn's outcome. Text that the remote agent replaces is replaced here. Thoughts, as
// Google's ADK marks them, become reasoning.
//
// Threads: one at a time. Nothing from the remote agent is trusted; the decoder and the engine bound its
// sizes. The work is proportional to the content received, and ends with the outcome or the turn.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agents/executor.h"
#include "agents/text_mark.h"
#include "agents/turn_output.h"
#include "protocol/a2a/client/updates.h"

namespace baton::agents {

class Relay {
 public:
  // `turn` must outlive this. `earlier`: the artifacts that the task here has already; they are not passed on
  // again.
  Relay(TurnOutput& turn, const std::vector<task::Artifact>& earlier);

  // Passes an update on. Moves the content of artifacts and messages out of `update`, but keeps ids and
  // states.
  void tell(protocol::a2a::Update& update);

  bool has_told() const { return has_told_; }
  // Whether messages came in place of a task, and whether just one of them had parts.
  bool has_messages() const { return has_messages_; }
  bool has_one_message() const { return first_message_.has_value(); }
  // The conversation with the remote agent has ended well. If no task has stopped, the messages in place of
  // one were the answer.
  void end_messages();
  // The outcome, once the remote task has stopped or the messages have ended. A question has no id yet.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  // Moves it out. Call last.
  Outcome end() { return std::move(*outcome_); }

 private:
  struct Told {
    std::vector<TextMark> parts =
        {};               // of an artifact, as passed on until now; of a reply, those that are no text
    TextMark facts = {};  // the last metadata and extensions of an artifact
    TextMark text = {};   // of the reply
    TextMark thoughts = {};
    bool is_reply = false;  // its text is passed on as a reply
    bool is_new = true;     // nothing was passed on yet
  };

  void tell_task(task::Task& task);
  void tell_artifact(task::Artifact piece, bool append, bool last_chunk);
  void tell_chunk(Told& told, task::Artifact piece, bool append, bool last_chunk);
  void tell_thoughts(Told& told, std::string text, bool append);
  void tell_reply(const std::string& id, Told& told, std::string text, bool append, bool last);
  void tell_whole(task::Artifact artifact);
  void tell_whole_parts(Told& told, task::Artifact now);
  void tell_message(task::Message message);
  void tell_piece(task::Message message);
  void tell_first_message();
  Told* place_of(const task::Artifact& piece);
  void tell_status(const task::Status& status, const task::Json& metadata);

  TurnOutput& turn_;
  std::unordered_map<std::string, Told> told_;  // by the artifact's id
  std::unordered_set<std::string> earlier_replies_;
  bool has_told_ = false;
  std::optional<task::Message> note_;  // the last one
  bool has_messages_ = false;
  // The first message. It is held back: if no other one follows, it is the outcome with all that it has.
  std::optional<task::Message> first_message_;
  bool is_in_pieces_ = false;  // messages are passed on as replies
  std::optional<Outcome> outcome_;
};

}  // namespace baton::agents
