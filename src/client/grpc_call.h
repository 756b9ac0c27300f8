// A request of the REST client as the gRPC call that it stands for.
//
// Threads: any; no state.
#pragma once

#include <string>

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
// Converts sends and requests about tasks; fails with unsupported for anything else. `tenant` is for 1.0,
// where REST has it in the path; `request.path` must not contain it.
base::Result<MethodCall> method_call(task::ProtocolVersion version,
                                     const protocol::a2a::ClientRequest& request, const std::string& tenant);

}  // namespace baton::client
