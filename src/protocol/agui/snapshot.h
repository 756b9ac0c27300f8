// The messages of a conversation as MESSAGES_SNAPSHOT has them.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "json/writer.h"
#include "task/message.h"

namespace baton::protocol::agui {

// Writes a list. One task::Message may become several messages: each tool result is one of its own.
void write_messages(json::Writer& out, const std::vector<task::Message>& messages, bool newer);

}  // namespace baton::protocol::agui
