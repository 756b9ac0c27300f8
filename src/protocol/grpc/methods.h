// Methods: the methods of both gRPC services, each with its messages and its operation.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

#include "protocol/a2a/requests.h"
#include "task/task.h"

namespace baton::protocol::grpc {

struct Method {
  task::ProtocolVersion version;  // v0_3 or v1_0
  std::string_view name;
  a2a::Operation operation;
  std::string_view response;        // the answer or a stream's item, within the version's package
  std::string_view rest_path = {};  // the path of the equivalent REST request; {t} is a task's id
  std::string_view request = {};    // the request message, if it is not the name followed by "Request"

  std::string full(std::string_view message) const;  // "a2a.v1.Task"; a name with a dot is full already
  std::string request_message() const;               // the full name of its request
  std::string path_of_call() const;                  // "/a2a.v1.A2AService/GetTask"
};

// The method with the gRPC path "/a2a.v1.A2AService/GetTask", or null.
const Method* find_method(std::string_view path);
// The method of a version that corresponds to the REST path, written as in `rest_path`, or null.
const Method* find_method(task::ProtocolVersion version, std::string_view rest_path);

}  // namespace baton::protocol::grpc
