// Functions that the operations share: reading tasks for answers, and preparing sends.
//
// Threads: as operations.h.
#pragma once

#include <functional>
#include <optional>

#include "server/a2a/call.h"

namespace baton::server::a2a {

// Adds the call's data to a send: the caller, the agent, the extensions, the trace. Fails if the call may
// not send.
base::Result<void> complete_send(const Call& call, protocol::a2a::SendRequest& request);
// The error if a send's message answer is not ready in time.
base::Error no_message_yet();
// Translates a send's error into the version's error.
base::Error send_refusal(const Call& call, base::Error error);
// Clears what the request's member asks of Baton's extension, unless the extension is active. From 1.0 on it
// is active only if the request's header asks for it. Earlier clients may not know that header, and their
// versions cannot be distinguished: for them the member alone is enough.
void drop_inactive(const Call& call, protocol::NumbersWish& numbers);

// How much history to show of a task of this origin, as in task::Depth. If neither the request nor its
// version says, the default of the version that created the task applies.
std::optional<int> history_of(const Call& call, const protocol::a2a::TaskRequest& request,
                              task::ProtocolVersion origin);

// Reads a task as it is now, or just after `as_of`, and passes it to `done`. For a large task the call takes
// a share of the budget of large answers first. In a task too large for an answer, links replace the largest
// parts. `done` is called on this thread, or later on a reader thread if the answer waits for the budget.
// Reads the store.
struct TaskToRead {
  std::optional<task::TaskKey> key;  // if empty, `ref` names the task
  task::TaskRef ref;
  task::Depth depth;
  std::optional<task::EventNumber> as_of = {};
  bool links = true;  // false: the whole task, however large
};
using TaskRead = std::function<void(base::Result<task::Task>)>;
void read_task(const CallPtr& call, const TaskToRead& wanted, const TaskRead& done);
// Calls `answer`, which reads the task, from a callback about the task: on this thread if the task is in
// memory, else on a thread that may read the store. Another thread is also used if the callback's thread has
// many callers to answer.
void answer_from_callback(const CallPtr& call, task::TaskKey task, std::optional<task::EventNumber> as_of,
                          std::function<void()> answer);

}  // namespace baton::server::a2a
