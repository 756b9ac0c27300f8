#include "agents/model/tools.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "json/document.h"

namespace baton::agents {
namespace {

using protocol::openai::CalledTool;
using protocol::openai::ToolFunction;

constexpr std::string_view kMessageOnly =
    R"({"type":"object","properties":{"message":{"type":"string","description":"What the agent is to do, with all it needs to know."}},"required":["message"]})";

// Names of functions must not have dots.
std::string function_name(std::string agent) {
  std::ranges::replace(agent, '.', '_');
  return agent;
}

ModelToolUse wrong(std::string reason) {
  return {ModelToolUse::Kind::wrong, "error: " + std::move(reason), {}, {}};
}

}  // namespace

ModelTools::ModelTools(const ModelSettings& settings, const task::Json& client_tools)
    : agents_(settings.tools) {
  for (const std::string& agent : agents_) {
    functions_.push_back({function_name(agent),
                          "Gives a task to the agent \"" + agent + "\" and returns its answer.",
                          {std::string(kMessageOnly)}});
  }
  std::unordered_set<std::string> names;
  for (const ToolFunction& function : functions_) names.insert(function.name);
  const auto document = json::Document::view_of(client_tools.text);
  if (!document.root().is_array()) return;
  for (const json::Value tool : document.root()) {
    const std::string name = tool["name"].str();
    if (name.empty() || !names.insert(name).second) continue;
    ToolFunction function{name, tool["description"].str(), {}};
    if (tool["parameters"].is_object()) function.parameters = tool["parameters"].json();
    functions_.push_back(std::move(function));
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
  if (place >= agents_.size()) return {ModelToolUse::Kind::client, {}, {}, arguments.json()};
  const std::string message = arguments["message"].str();
  if (message.empty()) return wrong("the argument \"message\" must be a text");
  return {ModelToolUse::Kind::agent, message, agents_[place], {}};
}

}  // namespace baton::agents
