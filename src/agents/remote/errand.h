// Errand: the message that a turn sends to a remote agent, and the state kept about it: in the log for
// another attempt, and in a question's id for the turn that brings the answer.
//
// The message has the same id however often it is sent. Threads: immutable once made.
#pragma once

#include <optional>
#include <string>

#include "agents/executor.h"
#include "client/endpoint.h"
#include "protocol/a2a/client/updates.h"
#include "protocol/a2a/requests.h"

namespace baton::agents {

// The state of the task there that the log keeps (task::ExecutorState).
struct Kept {
  task::TaskId task;        // empty: not known
  std::string url;          // of the interface in use
  std::string version;      // of A2A
  int times_forgotten = 0;  // how many such tasks the remote agent has forgotten in this turn
  task::Taken counted;      // the part of its usage that the task here has counted
};
Kept read_kept(const task::Json& state);
task::ExecutorState state_of(const Kept& kept);
// The usage that the last update reports and that is not counted yet; empty if there is none. One event
// both counts it and records that it is counted, so it counts once.
std::optional<task::ExecutorState> count_usage(Kept& kept, const protocol::a2a::Update& last);

// The task that the update is about; empty if it names none.
task::TaskId task_in(const protocol::a2a::Update& update);

// The task there that asked the question with this id (Errand::id_of_question); empty if none did.
task::TaskId task_of_question(const std::string& ask);

class Errand {
 public:
  // `turn` must outlive this.
  explicit Errand(const Turn& turn);

  // The task there whose question the message answers; empty if the message begins a task.
  const task::TaskId& answers() const { return answers_; }
  // Whether the message answers Baton's own question about sending an earlier message again, and whether
  // its answer is yes.
  bool is_about_resending() const { return !resends_.empty(); }
  bool says_resend() const;

  // The request to send. Empty if the message that is to be sent again is no longer in the history.
  std::optional<protocol::a2a::SendRequest> request(const client::Remote& remote) const;
  // The id of the task that the message begins, for versions in which the client chooses it (0.1).
  task::TaskId named_task() const;

  // The ids of a question of the task there, and of Baton's own question.
  std::string id_of_question(const task::TaskId& there) const;
  std::string id_of_resending() const;

 private:
  const Turn& turn_;
  std::string origin_;  // the turn that the message came with
  task::TaskId answers_;
  std::string resends_;  // the id of the caller's message; empty: this turn's
};

}  // namespace baton::agents
