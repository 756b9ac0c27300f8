// The head of a gRPC call as the pipeline sees it.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/http_server.h"

namespace baton::server::grpc {

// Names in lower case, as gRPC gives them.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// The head of a call as the pipeline sees it: the agent's path and the metadata that means something there.
// The metadata `baton-agent` overrides `agent`, the default one. `key_header`: in any case; may be empty.
// Fails with not_found.
base::Result<http::Request> head_of(const Metadata& metadata, std::string_view agent,
                                    std::string_view key_header = {});

}  // namespace baton::server::grpc
