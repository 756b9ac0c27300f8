#include "protocol/agent_server/request.h"

#include "json/writer.h"
#include "protocol/a2a/members.h"
#include "protocol/agent_api/content.h"

namespace baton::protocol::agent_server {
namespace {

using a2a::take;
using a2a::wrong;
using base::fail;
using base::Result;

Result<std::string> needed_id(json::Value body, const std::string& name) {
  if (!body[name].is_string()) return wrong(name + ": must be a string");
  auto id = a2a::read_id(body[name], name);
  if (id && id->empty()) return wrong(name + ": must not be empty");
  return id;
}

Result<void> read_input(json::Value input, const std::string& user, chat::RunRequest& request) {
  if (!input.is_array() || input.size() == 0) {
    return wrong("input: must be a list of messages that is not empty");
  }
  std::string others;
  std::size_t index = 0;
  for (const json::Value item : input) {
    const std::string name = "input[" + std::to_string(index++) + "]";
    if (!item.is_object()) return wrong(name + ": must be an object");
    if (!item["role"].is_string()) return wrong(name + ".role: must be a string");
    if (item["role"].string() != "user") {
      others.append(others.empty() ? "" : ",").append(item.raw());
      continue;
    }
    auto parts = agent_api::read_contents(item["content"], name + ".content");
    if (!parts) return fail(parts.error());
    for (task::Part& part : *parts) request.message.parts.push_back(std::move(part));
  }
  if (request.message.parts.empty()) return wrong("input: must have a message of the user");
  json::Writer out(request.metadata.text);
  out.object([&] {
    out.key("agent_server").object([&] {
      out.member("user_id", user);
      if (!others.empty()) out.key("input").raw("[" + others + "]");
    });
  });
  return {};
}

}  // namespace

Result<chat::RunRequest> read_request(json::Value body) {
  if (!body.is_object()) return wrong("body: must be an object");
  chat::RunRequest request;
  std::string user;
  std::optional<base::Error> bad;
  if ((bad = take(needed_id(body, "user_id"), user)) ||
      (bad = take(needed_id(body, "session_id"), request.conversation.value))) {
    return fail(*bad);
  }
  if (auto read = read_input(body["input"], user, request); !read) return fail(read.error());
  return request;
}

}  // namespace baton::protocol::agent_server
