// The messages that a turn sends to a language model: the system prompt, the history, the turn's message.
//
// Threads: pure functions, but for `system_of`, which may read a file.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "protocol/models/shared/conversation.h"

namespace baton::agents {

// The system prompt; nullopt if its file cannot be read.
std::optional<std::string> system_of(const ModelSettings& settings);

// Includes the last messages of the history that fit the bounds of `settings`. Calls of client tools and
// their results are restored from the messages. Servers refuse a call without a result and a result
// without a call, so a missing result is replaced by a note that it is missing, and a result whose call is
// not included is left out.
std::vector<protocol::models::ChatMessage> conversation_of(const Turn& turn, const ModelSettings& settings,
                                                           const std::string& system);

// Adds to a client tool's call, as a message for the caller (client_call.h), what the model's server wants
// back with it: its own id, and the members that Baton does not know, unless they take too much room.
// conversation_of restores them.
void keep_with_call(task::Message& message, const protocol::models::CalledTool& call,
                    const task::Json& others);

// The result of a child task as text, for the model that called it, cut to 256 KiB and to `bytes_max`.
// `is_tool`: the child is a call of an MCP tool, whose own text names its images.
std::string words_of(const DelegateResult& result, bool is_tool = false,
                     std::size_t bytes_max = std::numeric_limits<std::size_t>::max());

// Returns the images of a child's result, without repetitions and within the bounds of one result (parts.h):
// those that come as bytes and that all models' APIs take. Empty unless the child completed.
std::vector<task::Part> images_of(const DelegateResult& result);

// Leaves out the images of tools' results, the oldest results first, until at most `bytes_max` bytes of
// base64 are left. Returns whether any was left out.
bool drop_old_images(std::vector<protocol::models::ChatMessage>& messages, std::size_t bytes_max);

}  // namespace baton::agents
