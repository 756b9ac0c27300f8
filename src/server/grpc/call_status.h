// Call status: the gRPC status of a failed call.
//
// Threads: any; no state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "protocol/a2a/errors.h"
#include "task/task.h"

namespace baton::server::grpc {

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
  // For the details: an ErrorInfo, unless the reason is empty, and what else is known.
  std::string_view reason;
  task::TaskId task;
  std::string field, description;  // of a BadRequest; empty: none
  int retry_after_s = 0;           // 0: no RetryInfo
};

// The status for an error in this version. `named`: the request's task, if known.
CallStatus status_of(task::ProtocolVersion version, const base::Error& error, const task::TaskId& named = {});

}  // namespace baton::server::grpc
