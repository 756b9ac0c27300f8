#include "protocol/agent_api/request.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "protocol/agent_api/fields.h"
#include "protocol/agent_api/input.h"

namespace baton::protocol::agent_api {
namespace {

bool is_text(json::Value value) {
  return value.is_string();
}
bool is_number(json::Value value) {
  return value.is_number();
}
bool is_whole(json::Value value) {
  return value.integer().has_value();
}
bool is_choice_count(json::Value value) {
  const auto count = value.integer();
  return count && *count >= 1 && *count <= 5;
}
bool is_stop(json::Value value) {
  if (!value.is_array()) return value.is_string();
  for (const json::Value text : value) {
    if (!text.is_string()) return false;
  }
  return true;
}

// A parameter for how to answer, which Baton only passes on.
struct Hint {
  std::string_view name;
  bool (*fits)(json::Value);
  std::string_view must_be;
};
constexpr std::array kHints{
    Hint{"model", is_text, "must be a string"},
    Hint{"top_p", is_number, "must be a number"},
    Hint{"temperature", is_number, "must be a number"},
    Hint{"frequency_penalty", is_number, "must be a number"},
    Hint{"presence_penalty", is_number, "must be a number"},
    Hint{"max_tokens", is_whole, "must be a whole number"},
    Hint{"stop", is_stop, "must be a string or a list of strings"},
    Hint{"n", is_choice_count, "must be a whole number from 1 to 5"},
    Hint{"seed", is_whole, "must be a whole number"},
};

task::Json read_metadata(json::Value body, const std::vector<json::Value>& rest, Fields& fields) {
  task::Json metadata;
  const std::string user = fields.id(body["user_id"], "user_id");
  bool any = !rest.empty() || !user.empty();
  json::Writer out(metadata.text);
  out.object([&] {
    out.key("agent_api").object([&] {
      out.optional("user_id", user);
      for (const Hint& hint : kHints) {
        const json::Value value = body[hint.name];
        if (value.absent()) continue;
        if (!hint.fits(value)) fields.wrong(hint.name, hint.must_be);
        out.key(hint.name).raw(value.raw());
        any = true;
      }
      if (rest.empty()) return;
      out.key("input").array([&] {
        for (const json::Value item : rest) out.raw(item.raw());
      });
    });
  });
  if (!any) metadata.text.clear();
  return metadata;
}

// Reads {"type":"function","function":{...}}, or the same members without the `function` around them.
void read_tool(json::Value tool, const std::string& where, Fields& fields, json::Writer& out) {
  const bool nested = tool["function"].is_object();
  const json::Value function = nested ? tool["function"] : tool;
  const std::string in = where + (nested ? ".function." : ".");
  const std::string name = fields.id(function["name"], in + "name");
  if (name.empty()) fields.wrong(in + "name", "is missing");
  const std::string description = fields.text(function["description"], in + "description");
  const json::Value parameters = function["parameters"];
  if (!parameters.absent() && !parameters.is_object()) fields.wrong(in + "parameters", "must be an object");
  out.object([&] {
    out.member("name", name).optional("description", description);
    if (!parameters.absent()) out.key("parameters").raw(parameters.raw());
  });
}

task::Json read_tools(json::Value tools, Fields& fields) {
  task::Json list;
  if (tools.absent()) return list;
  if (!tools.is_array()) fields.wrong("tools", "must be a list");
  if (!tools.is_array() || tools.size() == 0) return list;
  json::Writer out(list.text);
  out.array([&] {
    std::size_t index = 0;
    for (const json::Value tool : tools) {
      const std::string where = "tools[" + std::to_string(index++) + "]";
      if (!tool.is_object()) fields.wrong(where, "must be an object");
      const std::string type = fields.text(tool["type"], where + ".type");
      if (type.empty() || type == "function") read_tool(tool, where, fields, out);
    }
  });
  return list;
}

}  // namespace

base::Result<chat::RunRequest> read_request(json::Value body) {
  if (!body.is_object()) {
    return base::fail(base::ErrorCode::invalid_argument, "the request must be an object");
  }
  Fields fields;
  chat::RunRequest request;
  request.conversation.value = fields.id(body["session_id"], "session_id");
  request.run = fields.id(body["id"], "id");
  request.after_response = fields.id(body["response_id"], "response_id");
  request.streams = fields.truth(body["stream"], "stream", true);
  const std::vector<json::Value> rest = read_input(body["input"], fields, request);
  request.tools = read_tools(body["tools"], fields);
  request.metadata = read_metadata(body, rest, fields);
  if (!fields.problem().empty()) {
    return base::fail(base::ErrorCode::invalid_argument, fields.problem());
  }
  return request;
}

}  // namespace baton::protocol::agent_api
