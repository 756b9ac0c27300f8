#include "agents/model/tools.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using protocol::openai::CalledTool;
using protocol::openai::ChatMessage;
using protocol::openai::ToolFunction;

constexpr std::string_view kMessageOnly =
    R"({"type":"object","properties":{"message":{"type":"string","description":"What the agent is to do, with all it needs to know."}},"required":["message"]})";

constexpr std::size_t kNameMax = 64;

// Returns a name that no other function has.
std::string function_name(std::string_view wanted, const std::unordered_set<std::string>& names) {
  std::string name(wanted.substr(0, kNameMax));
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  std::ranges::replace_if(name, std::not_fn(is_good), '_');
  const std::string begin = name.substr(0, kNameMax - 4);
  for (int number = 2; names.contains(name); ++number) name = begin + "_" + std::to_string(number);
  return name;
}

// Completes a schema: strict servers want the type and the properties of an object. A dialect's name is for
// validators.
task::Json completed(json::Value parameters) {
  task::Json whole;
  if (!parameters.is_object()) return whole;
  json::Writer out(whole.text);
  out.object([&] {
    if (parameters["type"].absent()) out.member("type", "object");
    if (parameters["properties"].absent()) out.key("properties").object([] {});
    for (const json::Value member : parameters) {
      if (!member.is_null() && member.key() != "$schema") out.key(member.key()).raw(member.raw());
    }
  });
  return whole;
}

ModelToolUse wrong(std::string reason) {
  return {ModelToolUse::Kind::wrong, "error: " + std::move(reason), {}, {}, {}};
}

}  // namespace

ModelTools::ModelTools(const ModelSettings& settings, const task::Json& client_tools)
    : agents_(settings.tools) {
  std::unordered_set<std::string> names;
  for (const std::string& agent : agents_) {
    functions_.push_back({function_name(agent, names),
                          "Gives a task to the agent \"" + agent + "\" and returns its answer.",
                          {std::string(kMessageOnly)}});
    names.insert(functions_.back().name);
  }
  const auto document = json::Document::view_of(client_tools.text);
  if (!document.root().is_array()) return;
  for (const json::Value tool : document.root()) {
    const std::string name = tool["name"].str();
    const bool is_known = std::ranges::count(client_tools_, name) > 0 || names.contains(name);
    if (name.empty() || is_known) continue;
    functions_.push_back(
        {function_name(name, names), tool["description"].str(), completed(tool["parameters"])});
    names.insert(functions_.back().name);
    client_tools_.push_back(name);
  }
}

void ModelTools::rename(std::vector<ChatMessage>& messages) const {
  for (ChatMessage& message : messages) {
    for (CalledTool& call : message.calls) {
      const auto tool = std::ranges::find(client_tools_, call.name);
      if (tool != client_tools_.end())
        call.name = functions_[agents_.size() + static_cast<std::size_t>(tool - client_tools_.begin())].name;
    }
  }
}

ModelToolUse ModelTools::use_of(const CalledTool& call) const {
  const auto function = std::ranges::find(functions_, call.name, &ToolFunction::name);
  if (function == functions_.end()) return wrong("there is no such tool");
  const auto place = static_cast<std::size_t>(function - functions_.begin());
  // A function without parameters may be called without arguments.
  const std::string_view text = call.arguments.empty() ? std::string_view("{}") : call.arguments;
  const auto document = json::Document::parse_view(text);
  if (!document) return wrong("the arguments are not JSON: " + document.error().for_caller);
  const json::Value arguments = document->root();
  if (!arguments.is_object()) return wrong("the arguments must be a JSON object");
  if (place >= agents_.size())
    return {ModelToolUse::Kind::client, {}, {}, client_tools_[place - agents_.size()], arguments.json()};
  const std::string message = arguments["message"].str();
  if (message.empty()) return wrong("the argument \"message\" must be a text");
  return {ModelToolUse::Kind::agent, message, agents_[place], {}, {}};
}

}  // namespace baton::agents
