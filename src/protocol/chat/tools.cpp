#include "protocol/chat/tools.h"

#include <algorithm>

#include "json/document.h"
#include "json/writer.h"

namespace baton::protocol::chat {
namespace {

task::Part data_part(std::string_view name, const auto& members) {
  task::Part part = task::Part::of_data({});
  json::Writer out(part.content);
  out.object([&] { out.key(name).object([&] { members(out); }); });
  return part;
}

}  // namespace

std::string text_of(const task::ToolResult& result) {
  if (!result.error.empty()) return result.error;
  const auto content = json::Document::view_of(result.content.text);
  return content.root().is_string() ? content.root().str() : result.content.text;
}

task::Part part_of(const task::ToolCall& call) {
  return data_part("toolCall", [&](json::Writer& out) {
    out.member("id", call.id).member("name", call.name).optional("arguments", call.arguments);
  });
}

task::Part part_of(const ClientResult& result) {
  return data_part("toolResult", [&](json::Writer& out) {
    out.member("id", result.call).optional("content", result.content).optional("error", result.error);
  });
}

std::string prompt_of(const Question& question) {
  if (!question.prompt.empty()) return question.prompt;
  return question.for_auth ? "The agent needs authorization." : "The agent needs input.";
}

bool asks_by_tool(const RunFacts& facts, const Question& question) {
  if (question.for_auth || facts.confirm_tool.empty()) return false;
  return std::ranges::count(tool_names(facts.tools), facts.confirm_tool) > 0;
}

std::string arguments_of(const Question& question) {
  std::string arguments;
  json::Writer out(arguments);
  out.object([&] { out.member("message", question.prompt).optional("schema", question.schema); });
  return arguments;
}

std::vector<task::ToolResult> tool_results_in(const task::Message& message) {
  std::vector<task::ToolResult> results;
  for (const task::Part& part : message.parts) {
    if (part.kind != task::Part::Kind::data) continue;
    const auto document = json::Document::view_of(part.content);
    const json::Value result = document.root()["toolResult"];
    if (!result.is_object() || !result["id"].is_string()) continue;
    task::ToolResult read{result["id"].str(), {}, result["error"].str()};
    if (!result["content"].missing()) read.content = result["content"].json();
    results.push_back(std::move(read));
  }
  return results;
}

}  // namespace baton::protocol::chat
