#include "protocol/models/anthropic/request.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/models/shared/part_order.h"
#include "protocol/models/shared/parts.h"

namespace baton::protocol::models::anthropic {
namespace {

using Kind = task::Part::Kind;
using Role = ChatMessage::Role;

constexpr std::string_view kSpaces = " \t\r\n";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kSpaces) == text.npos;
}

// The API refuses ids with other characters, which other servers' ids may have.
std::string taken_id(std::string id) {
  std::ranges::replace_if(
      id,
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '-';
      },
      '_');
  return id;
}

// The API refuses blank texts.
void write_text(json::Writer& out, std::string_view text) {
  if (is_blank(text)) return;
  out.object([&] { out.member("type", "text").member("text", text); });
}

void write_source(json::Writer& out, const task::Part& part) {
  out.key("source").object([&] {
    if (part.kind == Kind::url) {
      out.member("type", "url").member("url", part.content);
    } else {
      out.member("type", "base64").member("media_type", base::essence_of(part.media_type));
      out.member("data", part.content);
    }
  });
}

void write_part(json::Writer& out, const task::Part& part) {
  if (!is_common_image(part) && !is_pdf(part)) return write_text(out, words_of(part));
  out.object([&] {
    out.member("type", is_pdf(part) ? "document" : "image");
    write_source(out, part);
    if (is_pdf(part)) out.optional("title", part.filename);
  });
}

void write_result(json::Writer& out, const ChatMessage& message) {
  out.object([&] {
    out.member("type", "tool_result").member("tool_use_id", taken_id(message.call_id));
    out.key("content");
    if (std::ranges::any_of(message.parts, is_common_image)) {
      out.each(message.parts, [&](const task::Part& part) { write_part(out, part); });
    } else {
      out.string(words_of(message.parts));
    }
  });
}

void write_call(json::Writer& out, const OrderedPart& part) {
  const auto arguments = json::Document::view_of(part.call->arguments);
  out.object([&] {
    out.member("type", "tool_use").member("id", taken_id(part.call->id)).member("name", part.call->name);
    out.key("input").raw(arguments.root().is_object() ? std::string_view(part.call->arguments) : "{}");
    write_members(out, part.members, {"type", "id", "name", "input", "role", "content"});
  });
}

// Blocks with a role and results are never parts of an answer.
void write_other(json::Writer& out, const OrderedPart& part) {
  const auto document = json::Document::view_of(part.members);
  const std::string_view type = document.root()["type"].string();
  const bool is_answer_s = !type.empty() && type != "tool_result" && document.root()["role"].missing();
  if (is_answer_s) out.raw(part.members);
}

void write_blocks(json::Writer& out, const ChatMessage& message) {
  if (message.role == Role::tool) return write_result(out, message);
  if (message.role != Role::assistant) {
    for (const task::Part& part : message.parts) write_part(out, part);
    return;
  }
  for (const OrderedPart& part : ordered_parts(message, kBlocks)) {
    if (part.kind == PartKind::text) write_text(out, part.text);
    if (part.kind == PartKind::call) write_call(out, part);
    if (part.kind == PartKind::other) write_other(out, part);
  }
}

// Writes the messages as turns of user and assistant. Results are the user's, and the API wants all results
// of an answer's calls at the beginning of one turn.
void write_messages(json::Writer& out, const std::vector<ChatMessage>& messages) {
  out.array([&] {
    for (auto next = messages.begin(); next != messages.end();) {
      const bool is_assistant = next->role == Role::assistant;
      std::string blocks;
      json::Writer inner(blocks);
      inner.array([&] {
        for (; next != messages.end() && (next->role == Role::assistant) == is_assistant; ++next) {
          if (next->role != Role::system) write_blocks(inner, *next);
        }
        // A turn of the user has to say something.
        if (blocks == "[" && !is_assistant) write_text(inner, "(nothing)");
      });
      if (blocks == "[]") continue;
      out.object([&] { out.member("role", is_assistant ? "assistant" : "user").key("content").raw(blocks); });
    }
  });
}

void write_tool(json::Writer& out, const ToolFunction& tool) {
  out.object([&] {
    out.member("name", tool.name).optional("description", tool.description);
    out.key("input_schema").raw(tool.parameters.empty() ? kNoParameters : tool.parameters.text);
  });
}

std::string system_in(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (message.role == Role::system) text += (text.empty() ? "" : "\n") + words_of(message.parts);
  }
  return text;
}

}  // namespace

bool is_own_member(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn{"messages", "model", "stream", "system", "tools"};
  return std::ranges::count(kOwn, name) > 0;
}

std::string write_request(const ModelRequest& request) {
  const auto parameters = json::Document::view_of(request.parameters.text);
  const std::string system = system_in(request.messages);
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("model", request.model);
    if (parameters.root()["max_tokens"].missing()) out.member("max_tokens", kTokensMax);
    for (const json::Value parameter : parameters.root()) {
      if (!is_own_member(parameter.key())) out.key(parameter.key()).raw(parameter.raw());
    }
    if (!is_blank(system)) out.member("system", system);
    write_messages(out.key("messages"), request.messages);
    if (!request.tools.empty())
      out.key("tools").each(request.tools, [&](const ToolFunction& tool) { write_tool(out, tool); });
    out.member("stream", true);
  });
  return body;
}

}  // namespace baton::protocol::models::anthropic
