// Reads the messages of gRPC's requests as the values of protocol/a2a/requests.h. The same members are
// required and allowed as in REST, for the same operation and version.
//
// Fails with invalid_argument and a text that names the member as JSON does. Threads: any; no state.
#pragma once

#include <string>

#include "base/error.h"
#include "protocol/grpc/methods.h"
#include "server/a2a/operations.h"
#include "server/grpc/fields.h"

namespace baton::server::grpc {

// `files_are_text`: see base64_files.h.
base::Result<server::a2a::Request> read_request(const protocol::grpc::Method& method, const Reading& message,
                                                bool files_are_text);
// Empty before 1.0.
std::string tenant_in(const protocol::grpc::Method& method, const Reading& message);

}  // namespace baton::server::grpc
