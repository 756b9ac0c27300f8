#include "protocol/models/chat_completions/request.h"

#include <algorithm>
#include <array>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/models/shared/given_back.h"
#include "protocol/models/shared/parts.h"

namespace baton::protocol::models::chat_completions {
namespace {

using Kind = task::Part::Kind;
using Role = ChatMessage::Role;

constexpr const char* name_of(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      break;
  }
  return "tool";
}

// Whether the API has a form for the file.
bool has_form(const task::Part& part) {
  return is_image(part) || (is_pdf(part) && part.kind == Kind::raw);
}

void write_part(json::Writer& out, const task::Part& part) {
  out.object([&] {
    if (is_image(part)) {
      out.member("type", "image_url").key("image_url").object([&] {
        out.member("url", task::file_url(part));
      });
    } else if (has_form(part)) {
      out.member("type", "file").key("file").object([&] {
        out.member("filename", file_name(part, "file.pdf")).member("file_data", task::file_url(part));
      });
    } else {
      out.member("type", "text").member("text", words_of(part));
    }
  });
}

// Writes one string if that is enough, because not every server accepts a list.
void write_content(json::Writer& out, const ChatMessage& message) {
  out.key("content");
  if (message.role == Role::tool) return static_cast<void>(out.string(task::text_of(message.parts)));
  if (message.role == Role::user && std::ranges::any_of(message.parts, has_form)) {
    out.each(message.parts, [&](const task::Part& part) { write_part(out, part); });
    return;
  }
  std::string text = words_of(message.parts);
  const auto others = json::Document::view_of(message.others.text);
  if (const json::Value thoughts = others.root()[kTaggedThoughts]; thoughts.is_string())
    text = "<think>" + thoughts.str() + "</think>\n\n" + text;
  if (const json::Value parts = others.root()[kContentParts]; parts.is_array()) {
    out.array([&] {
      for (const json::Value part : parts) out.raw(part.raw());
      if (!text.empty()) out.object([&] { out.member("type", "text").member("text", text); });
    });
    return;
  }
  text.empty() && !message.calls.empty() ? out.null() : out.string(text);
}

// Writes the members of an object that the server has sent, except for those that the request sets itself: a
// caller's history must not replace them. Names with a blank are Baton's own.
void write_others(json::Writer& out, const task::Json& others,
                  std::initializer_list<std::string_view> known) {
  const auto document = json::Document::view_of(others.text);
  for (const json::Value other : document.root()) {
    const bool is_own = other.key().find(' ') != std::string_view::npos;
    if (!is_own && std::ranges::count(known, other.key()) == 0) out.key(other.key()).raw(other.raw());
  }
}

void write_message(json::Writer& out, const ChatMessage& message) {
  out.object([&] {
    out.member("role", name_of(message.role));
    write_content(out, message);
    write_others(out, message.others, {"role", "content", "tool_calls", "tool_call_id", "name"});
    out.optional("tool_call_id", message.call_id);
    if (message.calls.empty()) return;
    out.key("tool_calls").each(message.calls, [&](const CalledTool& call) {
      out.object([&] {
        out.member("id", call.id).member("type", "function").key("function").object([&] {
          // Servers parse them.
          out.member("name", call.name).member("arguments", call.arguments.empty() ? "{}" : call.arguments);
          write_others(out, call.function_others, {"name", "arguments"});
        });
        write_others(out, call.others, {"id", "type", "function"});
      });
    });
  });
}

// Adds the images of a result, each after words that name the tool.
void add_images(const ChatMessage& result, const std::vector<CalledTool>& calls, ChatMessage& to) {
  const auto call = std::ranges::find(calls, result.call_id, &CalledTool::id);
  const std::string tool = call == calls.end() ? "a tool" : call->name;
  int count = 0;
  for (const task::Part& part : result.parts) {
    if (!is_image(part)) continue;
    to.parts.push_back(
        task::Part::of_text("Image " + std::to_string(++count) + " of the result of " + tool + ":"));
    to.parts.push_back(part);
  }
}

// Most servers take only text as a result, and want the results of an answer's calls next to each other. So a
// message of the user after the results has their images.
void write_messages(json::Writer& out, const std::vector<ChatMessage>& messages) {
  const std::vector<CalledTool> none;
  const auto* calls = &none;  // of the message before the results
  out.array([&] {
    for (auto next = messages.begin(); next != messages.end();) {
      if (next->role != Role::tool) {
        calls = &next->calls;
        write_message(out, *next++);
        continue;
      }
      ChatMessage images;
      for (; next != messages.end() && next->role == Role::tool; ++next) {
        write_message(out, *next);
        add_images(*next, *calls, images);
      }
      if (!images.parts.empty()) write_message(out, images);
    }
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

bool is_about_extras(std::string_view reason) {
  return reason.find("stream_options") != reason.npos || reason.find("include_usage") != reason.npos;
}

std::string write_request(const ModelRequest& request) {
  const auto parameters = json::Document::view_of(request.parameters.text);
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("model", request.model);
    for (const json::Value parameter : parameters.root()) {
      if (!is_own_member(parameter.key())) out.key(parameter.key()).raw(parameter.raw());
    }
    write_messages(out.key("messages"), request.messages);
    if (!request.tools.empty())
      out.key("tools").each(request.tools, [&](const ToolFunction& tool) { write_tool(out, tool); });
    out.member("stream", true);
    // The parameters may set another value for a server that does not know this option.
    if (!request.without_extras && parameters.root()["stream_options"].missing())
      out.key("stream_options").object([&] { out.member("include_usage", true); });
  });
  return body;
}

}  // namespace baton::protocol::models::chat_completions
