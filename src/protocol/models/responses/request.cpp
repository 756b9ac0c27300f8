#include "protocol/models/responses/request.h"

#include <algorithm>
#include <array>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/models/shared/part_order.h"
#include "protocol/models/shared/parts.h"

namespace baton::protocol::models::responses {
namespace {

using Kind = task::Part::Kind;
using Role = ChatMessage::Role;

bool has_form(const task::Part& part) {
  return is_image(part) || is_pdf(part);
}

void write_part(json::Writer& out, const task::Part& part) {
  const bool is_url = part.kind == Kind::url;
  out.object([&] {
    if (is_image(part)) {
      out.member("type", "input_image").member("detail", "auto");
      out.member("image_url", task::file_url(part));
    } else if (is_pdf(part)) {
      out.member("type", "input_file");
      if (!is_url) out.member("filename", file_name(part, "file.pdf"));
      out.member(is_url ? "file_url" : "file_data", task::file_url(part));
    } else {
      out.member("type", "input_text").member("text", words_of(part));
    }
  });
}

// Writes a string if that is enough.
void write_content(json::Writer& out, const ChatMessage& message) {
  if (message.role != Role::system && std::ranges::any_of(message.parts, has_form)) {
    out.each(message.parts, [&](const task::Part& part) { write_part(out, part); });
  } else {
    out.string(words_of(message.parts));
  }
}

void write_said(json::Writer& out, const ChatMessage& message) {
  out.object([&] {
    out.member("role", message.role == Role::user ? "user" : "developer").key("content");
    write_content(out, message);
  });
}

void write_call(json::Writer& out, const OrderedPart& part) {
  out.object([&] {
    out.member("type", "function_call").member("call_id", part.call->id).member("name", part.call->name);
    out.member("arguments", part.call->arguments.empty() ? "{}" : part.call->arguments);
    write_members(out, part.members, {"type", "call_id", "name", "arguments", "role", "content"});
  });
}

// Whether the item may go back as it is. Items with a role or a result are never parts of an answer.
// Reasoning without its content says nothing to a server that does not store it.
bool goes_back(const OrderedPart& part, bool is_stored) {
  const auto document = json::Document::view_of(part.members);
  const json::Value item = document.root();
  const std::string_view type = item["type"].string();
  const bool is_other = type == "message" || type == "function_call" || type == "function_call_output";
  if (type.empty() || is_other || !item["role"].missing()) return false;
  const bool has_content = !item["encrypted_content"].string().empty() || item["content"].size() > 0;
  return type != "reasoning" || has_content || is_stored;
}

void write_answer(json::Writer& out, const ChatMessage& message, bool is_stored) {
  for (const OrderedPart& part : ordered_parts(message, kItems)) {
    if (part.kind == PartKind::call) write_call(out, part);
    if (part.kind == PartKind::other && goes_back(part, is_stored)) out.raw(part.members);
    if (part.kind != PartKind::text || part.text.empty()) continue;
    out.object([&] {
      out.member("type", "message").member("role", "assistant").key("content");
      if (part.members.empty()) {
        out.string(part.text);
        return;
      }
      out.array([&] {
        out.object([&] {
          out.member("type", "output_text").member("text", part.text).key("annotations").array([] {});
        });
      });
      write_members(out, part.members, {"type", "role", "content"});
    });
  }
}

void write_message(json::Writer& out, const ChatMessage& message, bool is_stored) {
  if (message.role == Role::assistant) return write_answer(out, message, is_stored);
  if (message.role != Role::tool) return write_said(out, message);
  out.object([&] {
    out.member("type", "function_call_output").member("call_id", message.call_id);
    write_content(out.key("output"), message);
  });
}

void write_tool(json::Writer& out, const ToolFunction& tool) {
  out.object([&] {
    out.member("type", "function").member("name", tool.name).member("description", tool.description);
    // The default is strict, which refuses most schemas.
    out.member("strict", false);
    out.key("parameters").raw(tool.parameters.empty() ? kNoParameters : tool.parameters.text);
  });
}

}  // namespace

bool is_own_member(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOwn{
      "input", "instructions", "model",        "stream",
      "tools", "background",   "conversation", "previous_response_id"};
  return std::ranges::count(kOwn, name) > 0;
}

// Models that do not reason refuse to be asked for encrypted reasoning, and some servers do not know
// `include`.
bool is_about_extras(std::string_view reason) {
  constexpr std::array<std::string_view, 5> kSigns{"ncrypted content", "encrypted_content", "'include",
                                                   "\"include", "body.include"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return reason.find(sign) != reason.npos; });
}

std::string write_request(const ModelRequest& request) {
  const auto parameters = json::Document::view_of(request.parameters.text);
  const json::Value given = parameters.root();
  const bool has_system = !request.messages.empty() && request.messages.front().role == Role::system;
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("model", request.model);
    for (const json::Value parameter : given) {
      if (!is_own_member(parameter.key())) out.key(parameter.key()).raw(parameter.raw());
    }
    if (has_system) out.member("instructions", words_of(request.messages.front().parts));
    out.key("input").array([&] {
      for (const ChatMessage& message : request.messages) {
        const bool is_told = has_system && &message == &request.messages.front();
        if (!is_told) write_message(out, message, given["store"].boolean());
      }
    });
    if (!request.tools.empty())
      out.key("tools").each(request.tools, [&](const ToolFunction& tool) { write_tool(out, tool); });
    out.member("stream", true);
    if (given["store"].missing()) out.member("store", false);
    if (!request.without_extras && given["include"].missing())
      out.key("include").strings({"reasoning.encrypted_content"});
  });
  return body;
}

}  // namespace baton::protocol::models::responses
