// Reads RunAgentInput as a RunRequest.
//
// The client owns the history. New messages are the tool messages after the last assistant message, and the
// last user message after those. Threads: any; stateless.
#pragma once

#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agui {

// The largest list of messages, in bytes, that a run sends to a client to replace what it has shown.
inline constexpr std::size_t kSnapshotMax = std::size_t{512} << 10;
// The most bytes of all these lists together.
inline constexpr std::size_t kSnapshotsMax = 16 * kSnapshotMax;

// Whether a client with this `protocolVersion` speaks version 1.0 or later. Text that is not a version counts
// as older.
bool is_newer(std::string_view version);

base::Result<chat::RunRequest> read_input(json::Value body);

}  // namespace baton::protocol::agui
