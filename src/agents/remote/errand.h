// Errand: what a turn sends to a remote agent, and what is remembered of that: in the log, for another
// attempt, and in the id of a question, for the turn that brings its answer.
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

// What the log keeps of the task there (task::ExecutorState).
struct Kept {
  task::TaskId task;        // empty: none is known
  std::string url;          // of the interface that was spoken to
  std::string version;      // of A2A
  int times_forgotten = 0;  // how many such tasks the remote agent has forgotten in this turn
  task::Taken counted;      // of what it says it has used, what the task here has taken in
};
Kept read_kept(const task::Json& state);
task::ExecutorState state_of(const Kept& kept);
// What the task there has used by its last update, as far as it is not counted yet; nothing: no more. The
// same event counts it and says that it is counted, so it counts once.
std::optional<task::ExecutorState> count_usage(Kept& kept, const protocol::a2a::Update& last);

// The task that the update is about, where it says so.
task::TaskId task_in(const protocol::a2a::Update& update);

// The task there that asked the question with this id (Errand::id_of_question); empty: none did.
task::TaskId task_of_question(const std::string& ask);

class Errand {
 public:
  // `turn` must outlive this.
  explicit Errand(const Turn& turn);

  // The task there whose question the message answers; empty: the message begins a task.
  const task::TaskId& answers() const { return answers_; }
  // The message answers our own question, whether an earlier one is to be sent again; and says that it is.
  bool is_about_resending() const { return !resends_.empty(); }
  bool says_resend() const;

  // Nothing: the message that is to be sent again is no longer at hand.
  std::optional<protocol::a2a::SendRequest> request(const client::Remote& remote) const;
  // The id of the task that the message begins where the client chooses that (0.1).
  task::TaskId named_task() const;

  // The ids of a question of the task there, and of ours.
  std::string id_of_question(const task::TaskId& there) const;
  std::string id_of_resending() const;

 private:
  const Turn& turn_;
  std::string origin_;  // the turn that the message came with
  task::TaskId answers_;
  std::string resends_;  // the id of the caller's message; empty: this turn's
};

}  // namespace baton::agents
