#include "protocol/agent_api/input.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "json/writer.h"
#include "protocol/agent_api/content.h"

namespace baton::protocol::agent_api {
namespace {

enum class Kind { user, result, answer, agent, other };

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_server_call(std::string_view type) {
  return type == "plugin_call" || type == "mcp_call";
}

// `server_calls`: the items include the agent's own calls, so the outputs of such calls are the agent's too.
Kind kind_of(json::Value item, bool server_calls) {
  const std::string_view role = item["role"].string();
  const std::string_view type = item["type"].absent() ? "message" : item["type"].string();
  if (type == "mcp_approval_response") return Kind::answer;
  if (ends_with(type, "_output")) {
    const std::string_view call = type.substr(0, type.size() - std::string_view("_output").size());
    return server_calls && is_server_call(call) ? Kind::agent : Kind::result;
  }
  if (type == "message" && role == "tool") return Kind::result;
  if (role == "user" || (role.empty() && type == "message")) return Kind::user;
  if (role == "system" || role == "developer" || type == "heartbeat") return Kind::other;
  return Kind::agent;
}

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// The objects that hold the members of a tool or approval item: the data of its parts, or the item itself.
struct Said {
  json::Value members;
  std::string where;
};
std::vector<Said> said_in(json::Value item, const std::string& where) {
  std::vector<Said> said;
  if (item["content"].is_array()) {
    std::size_t index = 0;
    for (const json::Value content : item["content"]) {
      if (content["data"].is_object()) {
        said.push_back({content["data"], at(where + ".content", index) + ".data."});
      }
      ++index;
    }
  }
  if (said.empty()) said.push_back({item, where + "."});
  return said;
}

// Reads an id that may be under either name. Errors use the first.
std::string needed_id(const Said& said, std::string_view name, std::string_view other, Fields& fields) {
  const json::Value value = said.members[name].absent() ? said.members[other] : said.members[name];
  std::string id = fields.id(value, said.where + std::string(name));
  if (id.empty()) fields.wrong(said.where + std::string(name), "is missing");
  return id;
}

void read_result(const Said& said, Fields& fields, chat::RunRequest& request) {
  chat::ClientResult result;
  result.call = needed_id(said, "call_id", "tool_call_id", fields);
  result.error = fields.text(said.members["error"], said.where + "error");
  json::Value output = said.members["output"];
  if (output.absent()) output = said.members["content"];
  result.content.text = output.absent() ? R"("")" : std::string(output.raw());
  request.results.push_back(std::move(result));
}

void read_answer(const Said& said, Fields& fields, chat::RunRequest& request) {
  chat::Answer answer;
  answer.ask = needed_id(said, "approval_request_id", "id", fields);
  const json::Value approve =
      said.members["approve"].absent() ? said.members["approved"] : said.members["approve"];
  if (approve.absent()) fields.wrong(said.where + "approve", "is missing");
  const bool approved = fields.truth(approve, said.where + "approve", false);
  const std::string reason = fields.text(said.members["reason"], said.where + "reason");
  json::Writer out(answer.payload.text);
  out.object([&] { out.member("approved", approved).optional("reason", reason); });
  request.answers.push_back(std::move(answer));
}

void read_message(json::Value item, const std::string& where, Fields& fields, task::Message& message) {
  message.id.value = fields.id(item["id"], where + ".id");
  for (task::Part& part : fields.taken(read_contents(item["content"], where + ".content"))) {
    message.parts.push_back(std::move(part));
  }
}

// The kinds of all items. Everything up to the agent's last item is `other`: it was said before.
std::vector<Kind> kinds_of(json::Value input, Fields& fields) {
  bool server_calls = false;
  for (const json::Value item : input) server_calls = server_calls || is_server_call(item["type"].string());
  std::vector<Kind> kinds;
  std::size_t said_before = 0;
  for (const json::Value item : input) {
    const std::string where = at("input", kinds.size());
    if (!item.is_object()) fields.wrong(where, "must be an object");
    fields.text(item["type"], where + ".type");
    fields.text(item["role"], where + ".role");
    kinds.push_back(kind_of(item, server_calls));
    if (kinds.back() == Kind::agent) said_before = kinds.size();
  }
  std::fill_n(kinds.begin(), said_before, Kind::other);
  return kinds;
}

}  // namespace

std::vector<json::Value> read_input(json::Value input, Fields& fields, chat::RunRequest& request) {
  std::vector<json::Value> rest;
  if (!input.is_array()) {
    fields.wrong("input", input.absent() ? "is missing" : "must be a list");
    return rest;
  }
  const std::vector<Kind> kinds = kinds_of(input, fields);
  std::size_t index = 0;
  for (const json::Value item : input) {
    const std::string where = at("input", index);
    const Kind kind = kinds[index++];
    if (kind == Kind::user) {
      read_message(item, where, fields, request.message);
    } else if (kind == Kind::result) {
      for (const Said& said : said_in(item, where)) read_result(said, fields, request);
    } else if (kind == Kind::answer) {
      for (const Said& said : said_in(item, where)) read_answer(said, fields, request);
    } else {
      rest.push_back(item);
    }
  }
  if (request.message.parts.empty() && request.results.empty() && request.answers.empty()) {
    fields.wrong("input", "must end with something for the agent: a message, an output or an approval");
  }
  return rest;
}

}  // namespace baton::protocol::agent_api
