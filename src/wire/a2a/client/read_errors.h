// Reads the errors of remote agents (../README.md, 3).
#pragma once

#include <optional>

#include "wire/a2a/client/client_dialect.h"
#include "wire/json/document.h"

namespace baton::wire::a2a {

// Reads a JSON-RPC answer of any version.
base::Result<ClientAnswer> read_rpc_answer(Value body);

// Reads a REST answer or an item of a REST stream. Fails if it is neither `good` nor an error.
base::Result<ClientAnswer> read_rest_answer(Value body, bool good);

// Reads the body of a REST error, of any version: {"error":{...}} of google.rpc, or
// {"code"?,"message","data"?}. Returns nothing for any other body.
std::optional<RemoteError> read_rest_error(Value body);

}  // namespace baton::wire::a2a
