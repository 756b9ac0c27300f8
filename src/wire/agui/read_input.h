// Reads RunAgentInput as a RunRequest.
//
// The client owns the history. New are the tool messages after the last assistant message, and the last user
// message after those. Threads: any; stateless.
#pragma once

#include "base/error.h"
#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agui {

base::Result<chat::RunRequest> read_input(Value body);

}  // namespace baton::wire::agui
