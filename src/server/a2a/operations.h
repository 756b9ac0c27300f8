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
// Why a send was refused, in the words of the generation.
base::Error send_refusal(const CallPtr& call, base::Error error);

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

}  // namespace baton::server::a2a
