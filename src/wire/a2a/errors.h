// Errors as each A2A binding says them: codes, HTTP statuses and bodies (README.md, 3).
//
// The codes and the canonical texts before 1.0 are those of wire/rpc/json_rpc.h. What exactly was wrong is in
// `data.detail` before 1.0, and part of `message` from 1.0 on, where `data` and `details` hold an ErrorInfo,
// a BadRequest for a wrong parameter, and a RetryInfo where the request may be sent again.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "task/ids.h"

namespace baton::wire::a2a {

// The JSON-RPC answer of A2A 1.0. `task`: the one the request named, or empty.
void write_rpc_error_v1(std::string& out, std::string_view id, const base::Error& error,
                        const task::TaskId& task);

// The HTTP status of an error in the REST bindings (1.0: README.md, 3; 401, 403, 413, 429 and 503 as in
// HTTP for what A2A has no error for).
int rest_status(const base::Error& error);
// REST 0.3: {"code","message","data"}.
void write_rest_error_v0_3(std::string& out, const base::Error& error);
// REST 1.0: a google.rpc.Status under "error". `status` is the answer's HTTP status.
void write_rest_error_v1(std::string& out, const base::Error& error, const task::TaskId& task, int status);

}  // namespace baton::wire::a2a
