// Errors in the form of each A2A binding: codes, HTTP statuses and bodies (README.md, 3).
//
// Codes and canonical texts are those of wire/rpc/json_rpc.h. What exactly was wrong is in `data.detail`
// before 1.0, and part of `message` from 1.0 on. There `data` and `details` hold an ErrorInfo, a BadRequest
// for a wrong parameter, and a RetryInfo if the request may be retried.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "task/ids.h"

namespace baton::wire::a2a {

// Writes the JSON-RPC answer of A2A 1.0. `task`: the one the request named, or empty.
void write_rpc_error_v1(std::string& out, std::string_view id, const base::Error& error,
                        const task::TaskId& task);

// The HTTP status of an error in the REST bindings (README.md, 3). Errors that A2A does not define have the
// status that HTTP has for them (401, 403, 409, 413, 429, 503, 504).
int rest_status(const base::Error& error);
// REST 0.3: {"code","message","data"}.
void write_rest_error_v0_3(std::string& out, const base::Error& error);
// REST 1.0: a google.rpc.Status under "error". `status` is the answer's HTTP status.
void write_rest_error_v1(std::string& out, const base::Error& error, const task::TaskId& task, int status);

}  // namespace baton::wire::a2a
