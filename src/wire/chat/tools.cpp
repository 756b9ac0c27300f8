#include "wire/chat/tools.h"

#include <algorithm>

#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::chat {
namespace {

task::Part data_part(std::string_view name, const auto& members) {
  task::Part part = task::Part::of_data({});
  Writer out(part.content);
  out.object([&] { out.key(name).object([&] { members(out); }); });
  return part;
}

}  // namespace

std::string text_of(const task::ToolResult& result) {
  if (!result.error.empty()) return result.error;
  const auto document = Document::parse_view(result.content.text);
  return document && document->root().is_string() ? document->root().str() : result.content.text;
}

task::Part part_of(const task::ToolCall& call) {
  return data_part("toolCall", [&](Writer& out) {
    out.member("id", call.id).member("name", call.name).optional("arguments", call.arguments);
  });
}

task::Part part_of(const ClientResult& result) {
  return data_part("toolResult", [&](Writer& out) {
    out.member("id", result.call).optional("content", result.content).optional("error", result.error);
  });
}

std::string prompt_of(const Question& question) {
  if (!question.prompt.empty()) return question.prompt;
  return question.for_auth ? "The agent needs authorisation." : "The agent needs an answer.";
}

bool asks_by_tool(const RunFacts& facts, const Question& question) {
  if (question.for_auth || facts.confirm_tool.empty()) return false;
  return std::ranges::count(tool_names(facts.tools), facts.confirm_tool) > 0;
}

std::string arguments_of(const Question& question) {
  std::string arguments;
  Writer out(arguments);
  out.object([&] { out.member("message", question.prompt).optional("schema", question.schema); });
  return arguments;
}

}  // namespace baton::wire::chat
