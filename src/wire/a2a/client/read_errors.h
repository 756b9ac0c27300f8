// Errors as remote agents say them (../README.md, 3).
#pragma once

#include <optional>

#include "wire/a2a/client/client_dialect.h"
#include "wire/json/document.h"

namespace baton::wire::a2a {

// A JSON-RPC answer, of any generation.
base::Result<ClientAnswer> read_rpc_answer(Value body);

// A REST answer or an item of a REST stream. Fails where it is not `good` and no error either.
base::Result<ClientAnswer> read_rest_answer(Value body, bool good);

// The body of a REST error, of any generation: {"error":{...}} of google.rpc, or {"code"?,"message","data"?}.
// Nothing if it is neither.
std::optional<RemoteError> read_rest_error(Value body);

}  // namespace baton::wire::a2a
