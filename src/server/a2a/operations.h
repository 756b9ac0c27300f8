// Operations: the A2A operations, the same for every generation and binding. Each decodes with the call's
// dialect, calls the engine and answers the call, now or later. No rules about tasks live here.
//
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/a2a/call.h"

namespace baton::server::a2a {

// Reads a send's submission and frees the request's text.
base::Result<wire::a2a::SendRequest> read_send(const CallPtr& call);
// Reads a get, cancel or subscribe request; also frees the text.
base::Result<wire::a2a::TaskRequest> read_task_request(const CallPtr& call);
// The error if a send's message answer is not ready in time.
base::Error no_message_yet();
// Translates a send's error into the generation's error.
base::Error send_refusal(const CallPtr& call, base::Error error);

// How much history to show of a task of this origin, as in task::Depth. If neither the request nor its
// version says, the default of the version that created the task applies.
std::optional<int> history_of(const Call& call, const wire::a2a::TaskRequest& request,
                              task::Generation origin);

// Reads a task as it is now, or just after `as_of`, and passes it to `done` with its share of the budget of
// large answers (null for a small task). In a task too large for an answer, links replace the largest parts.
// `done` is called on this thread, or later on a reader thread if the answer waits for the budget. Reads the
// store.
struct TaskToRead {
  std::optional<task::TaskKey> key;  // if empty, `ref` names the task
  task::TaskRef ref;
  task::Depth depth;
  std::optional<task::EventNumber> as_of = {};
  bool links = true;  // false: the whole task, however large
};
using TaskRead = std::function<void(base::Result<task::Task>, AnswerBudget::SharePtr)>;
void read_task(const CallPtr& call, const TaskToRead& wanted, const TaskRead& done);

using Operation = void (*)(const CallPtr&);

void send(const CallPtr& call);
void send_stream(const CallPtr& call);
void get(const CallPtr& call);
void list(const CallPtr& call);
void cancel(const CallPtr& call);
void subscribe(const CallPtr& call);
void set_push(const CallPtr& call);
void get_push(const CallPtr& call);
void list_push(const CallPtr& call);
void delete_push(const CallPtr& call);
void extended_card(const CallPtr& call);
// The bytes of an artifact or message, or of one of its parts, as a download.
void artifact_bytes(const CallPtr& call);
void message_bytes(const CallPtr& call);

}  // namespace baton::server::a2a
