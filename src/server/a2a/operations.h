// Operations: what A2A clients can do, the same for every generation and binding. Each decodes by the call's
// dialect, calls the engine and answers the call, now or later; no rule about tasks lives here.
//
// Threads: on the server's workers, several at a time.
#pragma once

#include "server/a2a/call.h"

namespace baton::server::a2a {

// The submission of a send; the request's text is let go of.
base::Result<wire::a2a::SendRequest> read_send(const CallPtr& call);
// What get, cancel and subscribe ask for; likewise.
base::Result<wire::a2a::TaskRequest> read_task_request(const CallPtr& call);
// Why a send whose answer is a message gets none now.
base::Error no_message_yet();
// Why a send was refused, in the words of the generation.
base::Error send_refusal(const CallPtr& call, base::Error error);

// The history that is shown of a task of this origin, as in task::Depth: where a request does not say which,
// and not its version either, it is what the version of the task's own client means by that.
std::optional<int> history_of(const Call& call, const wire::a2a::TaskRequest& request,
                              task::Generation origin);

// Reads a task as it is now, or was just after `as_of`, and hands it to `done` with what its answer holds of
// the budget of large ones: null for a small task. In a task too large for an answer links stand in place of
// its largest parts. `done` is called from this thread, or later from a reading one where large answers wait
// their turn. Reads the store.
struct TaskToRead {
  std::optional<task::TaskKey> key;  // or
  task::TaskRef ref;
  task::Depth depth;
  std::optional<task::EventNumber> as_of = {};
  bool links = true;  // false: all of it, however large
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
// The bytes of an artifact, or of one part of it or of a message, as a download.
void artifact_bytes(const CallPtr& call);
void message_bytes(const CallPtr& call);

}  // namespace baton::server::a2a
