// The body of AG-Kit's POST /send-message. Threads: any; stateless.
#pragma once

#include "json/document.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agkit {

// Fails with invalid_argument. The texts of several user messages become parts of one message. System and
// assistant messages have no place in a RunRequest and go unchanged into its metadata:
// {"agkit":{"messages":[...]}}.
base::Result<chat::RunRequest> read_request(json::Value body);

}  // namespace baton::protocol::agkit
