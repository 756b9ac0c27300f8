// Errors in the form of each A2A binding: codes, HTTP statuses and bodies (README.md, 3).
//
// Codes and canonical texts are those of protocol/rpc/json_rpc.h. The exact cause is in `data.detail` before
// 1.0, and part of `message` from 1.0 on. From 1.0 on, `data` and `details` hold an ErrorInfo, a BadRequest
// for a wrong parameter, and a RetryInfo if the request may be retried.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "task/ids.h"

namespace baton::protocol::a2a {

// The names of google.rpc for an error, used in REST 1.0 and in gRPC.
std::string_view status_name(base::ErrorCode code);  // "INVALID_ARGUMENT"
std::string_view reason_of(base::ErrorCode code);    // of an ErrorInfo: "INVALID_PARAMS"
inline constexpr std::string_view kErrorDomain = "a2a-protocol.org";
// Returns the canonical text, followed by the exact cause. For errors that neither JSON-RPC nor A2A defines,
// returns only the exact cause, unless it is empty.
std::string message_of(const base::Error& error);
// A text such as "message.parts[0]: must be ...", split into the path of the member and the rest: views of
// it.
struct Violation {
  std::string_view field;
  std::string_view description;
};
std::optional<Violation> violation_in(const base::Error& error);

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

}  // namespace baton::protocol::a2a
