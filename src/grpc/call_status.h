// Call status: the gRPC status of a failed call.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "task/task.h"

namespace baton::grpc {

// The numbers are gRPC's.
enum class Code {
  ok = 0,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  unauthenticated = 16,
};

struct CallStatus {
  Code code = Code::ok;
  std::string message;
  std::string details;  // the JSON of a google.rpc.Status, or empty
};

// The status for an error answer of the generation's REST binding.
CallStatus status_of(task::Generation generation, int http_status, std::string_view body);

// The answer that binding would have given to an error found before it was called.
struct RestError {
  int http_status;
  std::string body;
};
RestError rest_error(task::Generation generation, const base::Error& error);

}  // namespace baton::grpc
