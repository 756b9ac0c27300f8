#include "agents/client_call.h"

#include "protocol/chat/tools.h"

namespace baton::agents {

std::string words_for_call(std::string_view tool) {
  return "The agent is waiting for the result of the tool " + std::string(tool) + ".";
}

task::Message message_of(const task::ToolCall& call) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_text(words_for_call(call.name)));
  message.parts.push_back(protocol::chat::part_of(call));
  return message;
}

}  // namespace baton::agents
