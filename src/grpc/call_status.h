// What gRPC is told of a call that failed.
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

// Of an error that the generation's REST binding answered with.
CallStatus status_of(task::Generation generation, int http_status, std::string_view body);

// What that binding would have answered, for an error that was found before it was asked.
struct RestError {
  int http_status;
  std::string body;
};
RestError rest_error(task::Generation generation, const base::Error& error);

}  // namespace baton::grpc
