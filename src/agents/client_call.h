// Client tool calls as messages. Such a message ends the turn and is kept in the history.
#pragma once

#include <string>
#include <string_view>

#include "task/event.h"

namespace baton::agents {

// Returns a sentence for clients that cannot run the tool, followed by the call as data
// {"toolCall":{"id","name","arguments"}}.
task::Message message_of(const task::ToolCall& call);

// That sentence.
std::string words_for_call(std::string_view tool);

}  // namespace baton::agents
