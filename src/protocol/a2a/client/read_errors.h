// Reads the errors of remote agents (../README.md, 3).
#pragma once

#include <optional>

#include "json/document.h"
#include "protocol/a2a/client/client_dialect.h"

namespace baton::protocol::a2a {

// Reads a JSON-RPC answer of any version.
base::Result<ClientAnswer> read_rpc_answer(json::Value body);

// Reads a REST answer or an item of a REST stream. Fails if it is neither `good` nor an error.
base::Result<ClientAnswer> read_rest_answer(json::Value body, bool good);

// Reads the body of a REST error, of any version: {"error":{...}} of google.rpc, or
// {"code"?,"message","data"?}. Returns nullopt for any other body.
std::optional<RemoteError> read_rest_error(json::Value body);

}  // namespace baton::protocol::a2a
