#include "protocol/agui/messages.h"

#include <array>
#include <utility>

#include "json/writer.h"
#include "protocol/a2a/members.h"
#include "protocol/agui/content.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agui {
namespace {

using a2a::read_id;
using a2a::take;
using a2a::wrong;
using base::fail;
using base::Result;

constexpr std::array<std::pair<std::string_view, Speaker>, 7> kRoles{{
    {"system", Speaker::system},
    {"developer", Speaker::developer},
    {"user", Speaker::user},
    {"assistant", Speaker::assistant},
    {"tool", Speaker::tool},
    {"reasoning", Speaker::reasoning},
    {"activity", Speaker::activity},
}};

Result<Speaker> read_role(json::Value role, const std::string& name) {
  if (!role.is_string()) return wrong(name + ".role: must be a string");
  for (const auto& [word, speaker] : kRoles) {
    if (word == role.string()) return speaker;
  }
  return wrong(name + ".role: is not a role of AG-UI");
}

// The client's metadata, plus the role if a Message cannot express it, and members that providers may need.
task::Json metadata_of(json::Value message, Speaker speaker) {
  task::Json metadata;
  json::Writer out(metadata.text);
  bool any = false;
  const auto put = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) out.member(name, text), any = true;
  };
  out.object([&] {
    if (speaker != Speaker::user && speaker != Speaker::assistant) put("role", message["role"].string());
    put("name", message["name"].string());
    put("encryptedValue", message["encryptedValue"].string());
    if (!message["metadata"].is_object()) return;
    for (const json::Value member : message["metadata"]) {
      const std::string_view key = member.key();
      if (key == "role" || key == "name" || key == "encryptedValue") continue;
      out.key(key).raw(member.raw());
      any = true;
    }
  });
  return any ? std::move(metadata) : task::Json{};
}

// Arguments are JSON in a string. Text that is not JSON stays a string.
void write_arguments(json::Writer& out, json::Value arguments) {
  if (arguments.absent()) return;
  const auto parsed = json::Document::parse_view(arguments.string());
  out.key("arguments").raw(arguments.is_string() && parsed ? arguments.string() : arguments.raw());
}

// {"id","type":"function","function":{"name","arguments"}}
Result<task::Part> read_call(json::Value call, const std::string& name) {
  std::string id;
  if (!call.is_object()) return wrong(name + ": must be an object");
  if (auto bad = take(read_id(call["id"], name + ".id"), id)) return fail(*bad);
  if (id.empty()) return wrong(name + ".id: is missing");
  const json::Value function = call["function"];
  if (!function["name"].is_string()) return wrong(name + ".function.name: must be a string");
  task::Json data;
  json::Writer out(data.text);
  out.object([&] {
    out.key("toolCall").object([&] {
      out.member("id", id).member("name", function["name"].string());
      write_arguments(out, function["arguments"]);
    });
  });
  return task::Part::of_data(std::move(data));
}

std::optional<base::Error> add_calls(json::Value calls, const std::string& name, task::Message& message) {
  if (calls.absent()) return std::nullopt;
  if (!calls.is_array()) return wrong(name + ": must be a list").value();
  int index = 0;
  for (const json::Value call : calls) {
    auto part = read_call(call, name + "[" + std::to_string(index++) + "]");
    if (!part) return std::move(part.error());
    message.parts.push_back(std::move(*part));
  }
  return std::nullopt;
}

Result<chat::ClientResult> read_result(json::Value message, const std::string& name) {
  chat::ClientResult result;
  if (auto bad = take(read_id(message["toolCallId"], name + ".toolCallId"), result.call)) return fail(*bad);
  if (result.call.empty()) return wrong(name + ".toolCallId: is missing");
  auto content = read_result_content(message["content"], name + ".content");
  if (!content) return fail(std::move(content.error()));
  result.content = std::move(*content);
  if (auto bad = take(a2a::read_string(message["error"], name + ".error"), result.error)) return fail(*bad);
  return result;
}

}  // namespace

Result<ReadMessage> read_message(json::Value value, const std::string& name) {
  if (!value.is_object()) return wrong(name + ": must be an object");
  ReadMessage read;
  if (auto bad = take(read_role(value["role"], name), read.speaker)) return fail(*bad);
  if (auto bad = take(read_id(value["id"], name + ".id"), read.message.id.value)) return fail(*bad);
  task::Message& message = read.message;
  const bool agent = read.speaker == Speaker::assistant || read.speaker == Speaker::reasoning;
  message.role = agent ? task::Role::agent : task::Role::user;
  if (read.speaker == Speaker::activity) return read;
  message.metadata = metadata_of(value, read.speaker);
  if (read.speaker == Speaker::tool) {
    auto result = read_result(value, name);
    if (!result) return fail(std::move(result.error()));
    message.parts.push_back(chat::part_of(*result));
    read.result = std::move(*result);
    return read;
  }
  if (auto bad = take(read_content(value["content"], name + ".content"), message.parts)) return fail(*bad);
  if (read.speaker == Speaker::assistant) {
    // Many clients send an empty content for an assistant that only calls tools.
    std::erase_if(message.parts, [](const task::Part& part) { return part == task::Part::of_text({}); });
    if (auto bad = add_calls(value["toolCalls"], name + ".toolCalls", message)) return fail(*bad);
  }
  return read;
}

}  // namespace baton::protocol::agui
