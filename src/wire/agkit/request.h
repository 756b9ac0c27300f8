// The body of AG-Kit's POST /send-message. Threads: any; stateless.
#pragma once

#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agkit {

// Fails with invalid_argument. The texts of several user messages become parts of one message. What system
// and assistant messages say has no place in a RunRequest and becomes its metadata, as it came:
// {"agkit":{"messages":[...]}}.
base::Result<chat::RunRequest> read_request(Value body);

}  // namespace baton::wire::agkit
