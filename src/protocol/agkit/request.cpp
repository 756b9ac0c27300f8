#include "protocol/agkit/request.h"

#include "json/writer.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::agkit {
namespace {

using a2a::read_id;
using a2a::read_string;
using a2a::take;
using a2a::wrong;
using base::fail;
using base::Result;

std::string item_name(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Tool results are text. Text that is a JSON object or list becomes one for the agent. Other JSON (a number,
// a boolean) may just as well be meant as words.
task::Json content_of(json::Value content) {
  const std::string text = content.str();
  const auto document = json::Document::parse_view(text);
  if (document && (document->root().is_object() || document->root().is_array()))
    return document->root().json();
  return {a2a::quoted(text)};
}

Result<chat::ClientResult> read_result(json::Value message, const std::string& name) {
  chat::ClientResult result;
  if (!message["toolCallId"].is_string()) return wrong(name + ".toolCallId: must be a string");
  if (auto bad = take(read_id(message["toolCallId"], name + ".toolCallId"), result.call)) return fail(*bad);
  if (result.call.empty()) return wrong(name + ".toolCallId: must not be empty");
  if (!message["content"].is_string()) return wrong(name + ".content: must be a string");
  result.content = content_of(message["content"]);
  return result;
}

Result<void> read_messages(json::Value messages, chat::RunRequest& request) {
  if (!messages.is_array()) return wrong("messages: must be a list of messages");
  std::string others;
  std::size_t index = 0;
  for (const json::Value message : messages) {
    const std::string name = item_name("messages", index++);
    if (!message.is_object()) return wrong(name + ": must be an object");
    if (!message["role"].is_string()) return wrong(name + ".role: must be a string");
    const std::string_view role = message["role"].string();
    if (role == "user") {
      if (!message["content"].is_string()) return wrong(name + ".content: must be a string");
      request.message.parts.push_back(task::Part::of_text(message["content"].str()));
    } else if (role == "tool") {
      auto result = read_result(message, name);
      if (!result) return fail(result.error());
      request.results.push_back(std::move(*result));
    } else {
      others.append(others.empty() ? "" : ",").append(message.raw());
    }
  }
  if (!others.empty()) request.metadata.text = R"({"agkit":{"messages":[)" + others + "]}}";
  return {};
}

// A JSON Schema: an object, or one as JSON text.
Result<task::Json> read_parameters(json::Value parameters, const std::string& name) {
  if (parameters.is_object()) return parameters.json();
  const std::string text = parameters.str();
  const auto document = json::Document::parse_view(text);
  if (!document || !document->root().is_object()) {
    return wrong(name + ": must be a JSON Schema as JSON text or as an object");
  }
  return document->root().json();
}

Result<void> read_tool(json::Value tool, const std::string& name, json::Writer& out) {
  if (!tool.is_object()) return wrong(name + ": must be an object");
  std::string tool_name, description;
  if (auto bad = take(read_string(tool["name"], name + ".name"), tool_name)) return fail(*bad);
  if (tool_name.empty()) return wrong(name + ".name: must be a string that is not empty");
  if (auto bad = take(read_string(tool["description"], name + ".description"), description))
    return fail(*bad);
  task::Json parameters;
  if (const json::Value schema = tool["parameters"]; !schema.absent()) {
    if (auto bad = take(read_parameters(schema, name + ".parameters"), parameters)) return fail(*bad);
  }
  out.object([&] {
    out.member("name", tool_name).optional("description", description).optional("parameters", parameters);
  });
  return {};
}

Result<task::Json> read_tools(json::Value tools) {
  task::Json list;
  if (tools.absent()) return list;
  if (!tools.is_array()) return wrong("tools: must be a list of tools");
  json::Writer out(list.text);
  std::size_t index = 0;
  Result<void> read;
  out.array([&] {
    for (const json::Value tool : tools) {
      read = read_tool(tool, item_name("tools", index++), out);
      if (!read) return;
    }
  });
  if (!read) return fail(read.error());
  return list;
}

Result<chat::Answer> read_resume(json::Value resume) {
  if (!resume.is_object()) return wrong("resume: must be an object");
  chat::Answer answer;
  if (!resume["interruptId"].is_string()) return wrong("resume.interruptId: must be a string");
  if (auto bad = take(read_id(resume["interruptId"], "resume.interruptId"), answer.ask)) return fail(*bad);
  const json::Value payload = resume["payload"];
  if (payload.missing()) return wrong("resume.payload: is missing");
  answer.payload = payload.json();
  if (!payload.is_string()) return answer;
  const std::string text = payload.str();
  if (const auto document = json::Document::parse_view(text)) answer.payload = document->root().json();
  return answer;
}

}  // namespace

Result<chat::RunRequest> read_request(json::Value body) {
  if (!body.is_object()) return wrong("body: must be an object");
  chat::RunRequest request;
  if (auto bad = take(read_id(body["conversationId"], "conversationId"), request.conversation.value)) {
    return fail(*bad);
  }
  const json::Value resume = body["resume"], messages = body["messages"];
  if (messages.absent() && resume.absent()) return wrong("messages: is missing");
  if (!messages.absent()) {
    if (auto read = read_messages(messages, request); !read) return fail(read.error());
  }
  if (!resume.absent()) {
    auto answer = read_resume(resume);
    if (!answer) return fail(answer.error());
    request.answers.push_back(std::move(*answer));
  }
  if (auto bad = take(read_tools(body["tools"]), request.tools)) return fail(*bad);
  return request;
}

}  // namespace baton::protocol::agkit
