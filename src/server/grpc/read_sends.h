// Reads the messages of a send over gRPC, and what other requests have in common with it.
//
// Fails with invalid_argument and a text that names the member as JSON does. Threads: any; no state.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "protocol/a2a/requests.h"
#include "server/grpc/fields.h"

namespace baton::server::grpc {

inline constexpr std::optional<int> kAllHistory;

// `files_may_be_base64`: see base64_files.h.
base::Result<protocol::a2a::SendRequest> read_send(task::ProtocolVersion version, const Reading& request,
                                                   bool files_may_be_base64);
base::Result<task::PushConfig> read_config(task::ProtocolVersion version, const Reading& config,
                                           const std::string& name);
// An id of at most as many bytes as ids may have.
base::Result<std::string> read_id(const Reading& message, const char* field, const std::string& name);
// The field history_length, which is given.
base::Result<std::optional<int>> history_in(const Reading& message, const std::string& name);

}  // namespace baton::server::grpc
