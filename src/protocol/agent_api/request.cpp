#include "protocol/agent_api/request.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/agent_api/content.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agent_api {
namespace {

// BodyMembers: reads members of a request and keeps the first error. Values read after an error are
// discarded.
class BodyMembers {
 public:
  const std::string& problem() const { return problem_; }
  void wrong(std::string_view where, std::string_view what) {
    if (problem_.empty()) problem_.append(where).append(" ").append(what);
  }

  // Empty if absent. `where` is the member's full name.
  std::string text(json::Value value, std::string_view where) {
    if (!value.absent() && !value.is_string()) wrong(where, "must be a string");
    return value.str();
  }
  std::string id(json::Value value, std::string_view where, std::size_t bytes_max = chat::kIdMax) {
    std::string id = text(value, where);
    if (id.size() > bytes_max) {
      wrong(where, "must not be longer than " + std::to_string(bytes_max) + " bytes");
    }
    return id;
  }
  bool truth(json::Value value, std::string_view where, bool otherwise) {
    if (!value.absent() && !value.is_bool()) wrong(where, "must be true or false");
    return value.is_bool() ? value.boolean() : otherwise;
  }

  template <class T>
  T taken(base::Result<T> result) {
    if (result) return std::move(*result);
    if (problem_.empty()) problem_ = std::move(result.error().for_caller);
    return T{};
  }

 private:
  std::string problem_;
};

enum class Kind { user, result, answer, agent, other };

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_server_call(std::string_view type) {
  return type == "plugin_call" || type == "mcp_call";
}

// `server_calls`: the items include the agent's own calls, so their outputs are the agent's too.
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

// Reads the id of a call or a question, which may be under either name. Errors use the first.
std::string needed_ask(const Said& said, std::string_view name, std::string_view other, BodyMembers& fields) {
  const json::Value value = said.members[name].absent() ? said.members[other] : said.members[name];
  std::string id = fields.id(value, said.where + std::string(name), chat::kAskMax);
  if (id.empty()) fields.wrong(said.where + std::string(name), "is missing");
  return id;
}

void read_result(const Said& said, BodyMembers& fields, chat::RunRequest& request) {
  chat::ClientResult result;
  result.call = needed_ask(said, "call_id", "tool_call_id", fields);
  result.error = fields.text(said.members["error"], said.where + "error");
  json::Value output = said.members["output"];
  if (output.absent()) output = said.members["content"];
  result.content.text = output.absent() ? R"("")" : std::string(output.raw());
  request.results.push_back(std::move(result));
}

void read_answer(const Said& said, BodyMembers& fields, chat::RunRequest& request) {
  chat::Answer answer;
  answer.ask = needed_ask(said, "approval_request_id", "id", fields);
  const json::Value approve =
      said.members["approve"].absent() ? said.members["approved"] : said.members["approve"];
  if (approve.absent()) fields.wrong(said.where + "approve", "is missing");
  const bool approved = fields.truth(approve, said.where + "approve", false);
  const std::string reason = fields.text(said.members["reason"], said.where + "reason");
  json::Writer out(answer.payload.text);
  out.object([&] { out.member("approved", approved).optional("reason", reason); });
  request.answers.push_back(std::move(answer));
}

void read_message(json::Value item, const std::string& where, BodyMembers& fields, task::Message& message) {
  message.id.value = fields.id(item["id"], where + ".id");
  for (task::Part& part : fields.taken(read_contents(item["content"], where + ".content"))) {
    message.parts.push_back(std::move(part));
  }
}

// Returns the kinds of all items. Everything up to the agent's last item is `other`, because it is not new.
std::vector<Kind> kinds_of(json::Value input, BodyMembers& fields) {
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

// Fills message, results and answers of `request`. Returns the other items, such as system messages and old
// ones.
std::vector<json::Value> read_input(json::Value input, BodyMembers& fields, chat::RunRequest& request) {
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
    fields.wrong("input", "must end with a message, a tool output or an approval");
  }
  return rest;
}

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

task::Json read_metadata(json::Value body, const std::vector<json::Value>& rest, BodyMembers& fields) {
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
      out.key("input").each(rest, [&](const json::Value item) { out.raw(item.raw()); });
    });
  });
  if (!any) metadata.text.clear();
  return metadata;
}

// Reads {"type":"function","function":{...}}, or the same members without the `function` around them.
void read_tool(json::Value tool, const std::string& where, BodyMembers& fields, json::Writer& out) {
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

task::Json read_tools(json::Value tools, BodyMembers& fields) {
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
  BodyMembers fields;
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
