// The messages of a conversation as MESSAGES_SNAPSHOT has them.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "task/message.h"
#include "wire/json/writer.h"

namespace baton::wire::agui {

// A list. Each message of ours may be several there: what tools gave is a message each.
void write_messages(Writer& out, const std::vector<task::Message>& messages, bool newer);

}  // namespace baton::wire::agui
