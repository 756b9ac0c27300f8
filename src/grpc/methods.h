// Methods: the methods of both gRPC services, each with its messages and its operation.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "server/a2a/operations.h"
#include "server/http/http_server.h"
#include "task/task.h"
#include "wire/a2a/client/client_dialect.h"

namespace baton::grpc {

struct Method {
  task::ProtocolVersion version;  // v0_3 or v1_0
  std::string_view name;
  std::string_view request;   // the messages' names within the version's package
  std::string_view response;  // of a stream: of each item
  server::a2a::Operation operation;
  std::string_view rest_path;  // of the REST request that a client makes of it; {t} is a task's id

  std::string full(std::string_view message) const;  // "a2a.v1.Task"; a name with a dot is full already
  std::string path_of_call() const;                  // "/a2a.v1.A2AService/GetTask"
};

// The method with the gRPC path "/a2a.v1.A2AService/GetTask", or null.
const Method* find_method(std::string_view path);

// Names in lower case, as gRPC gives them.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// The head of a call as the pipeline sees it: the agent's path and the metadata that means something there.
// The metadata `baton-agent` overrides `agent`, the default one. Fails with not_found.
base::Result<server::http::Request> head_of(const Metadata& metadata, std::string_view agent);

// A request of the version's REST client as a call.
struct MethodCall {
  const Method* method;
  std::string message;  // in ProtoJSON
};
// Converts sends and requests about tasks; fails with unsupported for anything else. `tenant` is for 1.0,
// where REST has it in the path; `request.path` must not contain it.
base::Result<MethodCall> method_call(task::ProtocolVersion version, const wire::a2a::ClientRequest& request,
                                     const std::string& tenant);

}  // namespace baton::grpc
