// A call of a tool of the client's, as the message that ends the turn and that history keeps.
#pragma once

#include <string>
#include <string_view>

#include "task/event.h"

namespace baton::agents {

// The words for whoever cannot run the tool, then the call: data {"toolCall":{"id","name","arguments"}}.
task::Message message_of(const task::ToolCall& call);

// Those words.
std::string words_for_call(std::string_view tool);

}  // namespace baton::agents
