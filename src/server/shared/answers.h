// Answers that are the same for every protocol.
//
// Threads: pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/http_server.h"

namespace baton::server {

// {"error":"<reason>"}, for errors before the protocol is known. 401 says how to authenticate; 429 and 503
// when to retry.
http::Reply plain_error(int status, std::string_view reason);

// The answer to an error outside A2A. A2A's statuses are in protocol/a2a/errors.h.
struct ErrorRow {
  base::ErrorCode code;
  int chat;               // the status in the chat protocols and for conversations
  int operators;          // the status in the operator API
  std::string_view name;  // what the operator API calls it
};
const ErrorRow& error_row(base::ErrorCode code);
// The operator API's name for an error with this status.
std::string_view name_of_status(int status);
// The error that the connection layer answers with this status.
base::ErrorCode code_of_status(int status);

// The value of WWW-Authenticate for an error (RFC 6750, section 3); empty if none belongs to it.
std::string challenge_of(const base::Error& error);

// The errors of a server that is at one of its limits, or of a caller at its own. All are overloaded.
base::Error too_many_large_answers();
base::Error too_many_waiting_answers();
base::Error too_many_open_runs();
// Why a request is refused if its agent runs on another node only.
inline constexpr std::string_view kServedElsewhere = "another node serves this agent; try again";

// The answer to a refusal by `authenticate` or for a path: 401 with WWW-Authenticate, 403, 404 or
// 503.
http::Reply refusal(const base::Error& error);

}  // namespace baton::server
