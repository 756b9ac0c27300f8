// The messages of a conversation as MESSAGES_SNAPSHOT has them.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "task/message.h"
#include "wire/json/writer.h"

namespace baton::wire::agui {

// Writes a list. One task::Message may become several messages: each tool result is one of its own.
void write_messages(Writer& out, const std::vector<task::Message>& messages, bool newer);

}  // namespace baton::wire::agui
