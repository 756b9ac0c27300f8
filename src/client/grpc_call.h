// Converts a request of the REST client to the equivalent gRPC call.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "protocol/a2a/client/client_dialect.h"
#include "protocol/grpc/methods.h"
#include "task/task.h"

namespace baton::client {

// A request of the version's REST client as a call.
struct MethodCall {
  const protocol::grpc::Method* method;
  std::string message;  // in ProtoJSON
};
// Converts sends and requests about tasks. Fails with unsupported for all others. `tenant` is for 1.0, where
// REST has it in the path; `request.path` must not contain it.
base::Result<MethodCall> method_call(task::ProtocolVersion version,
                                     const protocol::a2a::ClientRequest& request, const std::string& tenant);

// Convert a message of 0.3 in ProtoJSON to and from the form of a server that puts the base64 text of files
// where their bytes belong. Fail with invalid_argument if a file is not base64, or the text is not JSON.
base::Result<std::string> files_as_text(std::string_view message);
base::Result<std::string> files_of_text(std::string_view message);

}  // namespace baton::client
