#include "protocol/models/chat_completions/request.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/models/shared/given_back.h"

namespace baton::protocol::models {
namespace {

using Kind = task::Part::Kind;

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";

constexpr const char* name_of(ChatMessage::Role role) {
  switch (role) {
    case ChatMessage::Role::system:
      return "system";
    case ChatMessage::Role::user:
      return "user";
    case ChatMessage::Role::assistant:
      return "assistant";
    case ChatMessage::Role::tool:
      break;
  }
  return "tool";
}

bool is_file(const task::Part& part) {
  return part.kind == Kind::raw || part.kind == Kind::url;
}

bool is_image(const task::Part& part) {
  return is_file(part) && part.media_type.starts_with("image/");
}

bool is_pdf(const task::Part& part) {
  return part.kind == Kind::raw && part.media_type == "application/pdf";
}

bool is_text_file(const task::Part& part) {
  constexpr std::array kTexts{"application/json", "application/xml", "application/yaml"};
  const std::string_view type = std::string_view(part.media_type).substr(0, part.media_type.find(';'));
  return part.kind == Kind::raw && (type.starts_with("text/") || std::ranges::count(kTexts, type) > 0);
}

std::string name_of_file(const task::Part& part) {
  return part.filename.empty() ? "without a name" : part.filename;
}

std::string note_of(const task::Part& part) {
  const std::string type = part.media_type.empty() ? "" : ", " + part.media_type;
  if (part.kind == Kind::url) return "[File " + name_of_file(part) + type + ": " + part.content + "]";
  return "[File " + name_of_file(part) + type + ", " + std::to_string(task::content_size(part)) +
         " bytes, not shown]";
}

std::string words_of(const task::Part& part) {
  if (!is_file(part)) return part.content;
  if (is_text_file(part)) {
    const auto text = base::decode_base64(part.content);
    if (text && base::is_utf8(*text)) return "File " + name_of_file(part) + ":\n" + *text;
  }
  return note_of(part);
}

std::string data_url(const task::Part& part) {
  return "data:" + part.media_type + ";base64," + part.content;
}

void write_part(json::Writer& out, const task::Part& part) {
  out.object([&] {
    if (is_image(part)) {
      const std::string url = part.kind == Kind::url ? part.content : data_url(part);
      out.member("type", "image_url").key("image_url").object([&] { out.member("url", url); });
    } else if (is_pdf(part)) {
      out.member("type", "file").key("file").object([&] {
        out.member("filename", part.filename.empty() ? "file.pdf" : part.filename);
        out.member("file_data", data_url(part));
      });
    } else {
      out.member("type", "text").member("text", words_of(part));
    }
  });
}

// Writes one string if that is enough, because not every server accepts a list.
void write_content(json::Writer& out, const ChatMessage& message) {
  const bool is_user = message.role == ChatMessage::Role::user;
  const auto is_shown = [&](const task::Part& part) { return is_user && (is_image(part) || is_pdf(part)); };
  out.key("content");
  if (std::ranges::any_of(message.parts, is_shown)) {
    out.each(message.parts, [&](const task::Part& part) { write_part(out, part); });
    return;
  }
  std::string text;
  for (const task::Part& part : message.parts) text += (text.empty() ? "" : "\n") + words_of(part);
  const auto others = json::Document::view_of(message.others.text);
  if (const json::Value parts = others.root()[kContentParts]; parts.is_array()) {
    out.array([&] {
      for (const json::Value part : parts) out.raw(part.raw());
      if (!text.empty()) out.object([&] { out.member("type", "text").member("text", text); });
    });
    return;
  }
  text.empty() && !message.calls.empty() ? out.null() : out.string(text);
}

// Writes the members of an object that the server has sent, except for its parts of the content.
void write_others(json::Writer& out, const task::Json& others) {
  const auto document = json::Document::view_of(others.text);
  for (const json::Value other : document.root()) {
    if (other.key() != kContentParts) out.key(other.key()).raw(other.raw());
  }
}

void write_message(json::Writer& out, const ChatMessage& message) {
  out.object([&] {
    out.member("role", name_of(message.role));
    write_content(out, message);
    write_others(out, message.others);
    out.optional("tool_call_id", message.call_id);
    if (message.calls.empty()) return;
    out.key("tool_calls").each(message.calls, [&](const CalledTool& call) {
      out.object([&] {
        out.member("id", call.id).member("type", "function").key("function").object([&] {
          out.member("name", call.name).member("arguments", call.arguments);
          write_others(out, call.function_others);
        });
        write_others(out, call.others);
      });
    });
  });
}

void write_tool(json::Writer& out, const ToolFunction& tool) {
  out.object([&] {
    out.member("type", "function").key("function").object([&] {
      // Some servers refuse a function that lacks one of them.
      out.member("name", tool.name).member("description", tool.description);
      out.key("parameters").raw(tool.parameters.empty() ? kNoParameters : tool.parameters.text);
    });
  });
}

}  // namespace

bool is_own_member(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOwn{"messages", "model", "stream", "tools"};
  return std::ranges::count(kOwn, name) > 0;
}

std::string write_request(const ChatRequest& request) {
  const auto parameters = json::Document::view_of(request.parameters.text);
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("model", request.model);
    for (const json::Value parameter : parameters.root()) {
      if (!is_own_member(parameter.key())) out.key(parameter.key()).raw(parameter.raw());
    }
    out.key("messages").each(request.messages, [&](const ChatMessage& message) {
      write_message(out, message);
    });
    if (!request.tools.empty())
      out.key("tools").each(request.tools, [&](const ToolFunction& tool) { write_tool(out, tool); });
    out.member("stream", true);
    // The parameters may set another value for a server that does not know this option.
    if (parameters.root()["stream_options"].missing())
      out.key("stream_options").object([&] { out.member("include_usage", true); });
  });
  return body;
}

std::string completions_url(std::string_view base) {
  const std::size_t query = std::min(base.find('?'), base.size());
  std::string url(base.substr(0, query));
  while (url.ends_with('/')) url.pop_back();
  return url + "/chat/completions" + std::string(base.substr(query));
}

}  // namespace baton::protocol::models
