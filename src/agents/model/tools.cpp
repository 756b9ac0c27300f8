#include "agents/model/tools.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using protocol::models::CalledTool;
using protocol::models::ChatMessage;
using protocol::models::ToolFunction;

constexpr std::string_view kMessageOnly =
    R"({"type":"object","properties":{"message":{"type":"string","description":"What the agent is to do, with all it needs to know."}},"required":["message"]})";

void write_schema(json::Writer& out, json::Value schema);

// Writes the value of a member of a schema.
void write_member(json::Writer& out, json::Value member) {
  constexpr std::array<std::string_view, 5> kByName{"properties", "patternProperties", "dependentSchemas",
                                                    "$defs", "definitions"};
  constexpr std::array<std::string_view, 5> kLists{"anyOf", "oneOf", "allOf", "prefixItems", "items"};
  constexpr std::array<std::string_view, 6> kSchemas{"items", "additionalProperties", "not", "if", "then",
                                                     "else"};
  const auto is_one_of = [&](const auto& names) { return std::ranges::count(names, member.key()) > 0; };
  if (member.is_object() && is_one_of(kByName)) {
    out.object([&] {
      for (const json::Value one : member) {
        out.key(one.key());
        write_schema(out, one);
      }
    });
  } else if (member.is_array() && is_one_of(kLists)) {
    out.each(member, [&](json::Value one) { write_schema(out, one); });
  } else if ((member.is_object() || member.key() == "items") && is_one_of(kSchemas)) {
    write_schema(out, member);
  } else {
    out.raw(member.raw());
  }
}

// Writes a schema with the same meaning for strict servers, which otherwise refuse the whole request: OpenAI
// wants `items` in every array, and Fireworks an object where a schema may be `true`.
void write_schema(json::Writer& out, json::Value schema) {
  if (schema.is_bool() && schema.boolean()) {
    out.object([] {});
    return;
  }
  if (!schema.is_object()) {
    out.raw(schema.raw());
    return;
  }
  const json::Value type = schema["type"];
  bool is_array = type.string() == "array";
  if (type.is_array()) {
    for (const json::Value one : type) is_array = is_array || one.string() == "array";
  }
  out.object([&] {
    for (const json::Value member : schema) {
      out.key(member.key());
      write_member(out, member);
    }
    if (is_array && schema["items"].missing()) out.key("items").object([] {});
  });
}

// The keywords that OpenAI's and Anthropic's APIs refuse at the top of a function's parameters.
bool is_refused_at_top(std::string_view keyword) {
  constexpr std::array<std::string_view, 6> kRefused{"anyOf", "oneOf", "allOf", "not", "enum", "const"};
  return std::ranges::count(kRefused, keyword) > 0;
}

// The most references among a tool's alternatives that are followed: each costs a search of all definitions.
constexpr std::size_t kReferencesMax = 100;

// Writes the properties of all schemas that the parameters consist of. The result does not say which of
// them belong together; the tool's server refuses a call with the wrong ones, and the model reads that.
void write_all_properties(json::Writer& out, json::Value parameters) {
  std::vector<std::vector<json::Value>> all;       // the different schemas of each property
  std::map<std::string_view, std::size_t> places;  // in `all`, by the property's name
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::set<std::string_view> references;
  const auto add = [&](json::Value schema) {
    const json::Value properties = schema["properties"];
    if (!properties.is_object()) return;
    for (const json::Value one : properties) {
      if (!seen.emplace(one.key(), one.raw()).second) continue;
      const auto [place, is_new] = places.try_emplace(one.key(), all.size());
      if (is_new) all.emplace_back();
      all[place->second].push_back(one);
    }
  };
  add(parameters);
  for (const std::string_view list : {"allOf", "anyOf", "oneOf"}) {
    for (const json::Value part : parameters[list]) {
      add(part);
      const std::string_view reference = part["$ref"].string();
      const bool is_followed = reference.starts_with("#/") && references.size() < kReferencesMax;
      if (is_followed && references.insert(reference).second)
        add(json::value_at(parameters, reference.substr(1)));
    }
  }
  out.object([&] {
    for (const std::vector<json::Value>& schemas : all) {
      out.key(schemas.front().key());
      if (schemas.size() == 1) {
        write_schema(out, schemas.front());
      } else {
        out.object([&] { out.key("anyOf").each(schemas, [&](json::Value one) { write_schema(out, one); }); });
      }
    }
  });
}

// Completes a schema: strict servers want the type and the properties of an object. A dialect's name is for
// validators.
task::Json completed(json::Value parameters) {
  task::Json whole;
  if (!parameters.is_object()) return whole;
  bool is_composed = false;
  for (const json::Value member : parameters)
    is_composed = is_composed || (!member.is_null() && is_refused_at_top(member.key()));
  json::Writer out(whole.text);
  out.object([&] {
    if (parameters["type"].absent()) out.member("type", "object");
    if (is_composed || parameters["properties"].absent()) {
      out.key("properties");
      write_all_properties(out, parameters);
    }
    for (const json::Value member : parameters) {
      if (member.is_null() || member.key() == "$schema" || is_refused_at_top(member.key())) continue;
      if (is_composed && member.key() == "properties") continue;
      out.key(member.key());
      write_member(out, member);
    }
  });
  return whole;
}

ModelToolUse wrong(std::string reason) {
  return {ModelToolUse::Kind::wrong, "error: " + std::move(reason), {}, {}, {}, {}};
}

std::string function_name(const OfferedTool& offered) {
  const std::string& server = offered.server->settings.name;
  return server.empty() ? offered.tool.name : server + "__" + offered.tool.name;
}

}  // namespace

ModelTools::ModelTools(const ModelSettings& settings, const task::Json& client_tools, std::string own_name,
                       std::vector<OfferedTool> offered)
    : agent_(std::move(own_name)), agents_(settings.tools), offered_(std::move(offered)) {
  for (const std::string& agent : agents_) {
    add({agent,
         "Gives a task to the agent \"" + agent + "\" and returns its answer.",
         {std::string(kMessageOnly)}});
  }
  for (const OfferedTool& one : offered_) {
    const auto schema = json::Document::view_of(one.tool.schema.text);
    add({function_name(one), one.tool.description, completed(schema.root())});
  }
  const auto document = json::Document::view_of(client_tools.text);
  if (!document.root().is_array()) return;
  for (const json::Value tool : document.root()) {
    const std::string name = tool["name"].str();
    const auto function = places_.find(name);
    const bool is_agent_s = function != places_.end() && function->second < agents_.size();
    if (name.empty() || is_agent_s || !client_places_.try_emplace(name, functions_.size()).second) continue;
    client_tools_.push_back(name);
    add({name, tool["description"].str(), completed(tool["parameters"])});
  }
}

void ModelTools::add(ToolFunction function) {
  function.name = names_.add(function.name);
  places_.emplace(function.name, functions_.size());
  functions_.push_back(std::move(function));
}

void ModelTools::rename(std::vector<ChatMessage>& messages) const {
  for (ChatMessage& message : messages) {
    for (CalledTool& call : message.calls) {
      const auto place = client_places_.find(call.name);
      if (place != client_places_.end()) call.name = functions_[place->second].name;
    }
  }
}

ModelToolUse ModelTools::use_of(const CalledTool& call) const {
  const auto function = places_.find(call.name);
  if (function == places_.end()) return wrong("tool not found");
  const std::size_t place = function->second;
  // A function without parameters may be called without arguments.
  const std::string_view text = call.arguments.empty() ? std::string_view("{}") : call.arguments;
  const auto document = json::Document::parse_view(text, {.depth_max = protocol::models::kDepthMax});
  if (!document) return wrong("the arguments are not JSON: " + document.error().for_caller);
  const json::Value arguments = document->root();
  if (!arguments.is_object()) return wrong("the arguments must be a JSON object");
  if (place >= agents_.size() + offered_.size())
    return {ModelToolUse::Kind::client,
            {},
            {},
            {},
            client_tools_[place - agents_.size() - offered_.size()],
            arguments.json()};
  if (place >= agents_.size()) {
    const auto& [server, tool] = offered_[place - agents_.size()];
    const McpToolCall made{agent_,
                           server->settings.server.url,
                           tool.name,
                           tool.may_repeat,
                           protocol::mcp::param_headers(tool.param_headers, arguments),
                           arguments.json()};
    return {ModelToolUse::Kind::mcp, {}, kToolAgent, message_of(made), {}, {}};
  }
  const std::string message = arguments["message"].str();
  if (message.empty()) return wrong("the argument \"message\" must be a string");
  task::Message told;
  told.parts.push_back(task::Part::of_text(message));
  return {ModelToolUse::Kind::agent, {}, agents_[place], std::move(told), {}, {}};
}

}  // namespace baton::agents
