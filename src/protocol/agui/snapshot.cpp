#include "protocol/agui/run_frames.h"

#include <algorithm>
#include <string>

#include "json/document.h"
#include "protocol/agui/content.h"
#include "protocol/chat/names.h"

namespace baton::protocol::agui {
namespace {

using task::Message;
using task::Part;

// Returns the text of a string, and the JSON text of any other value.
std::string as_text(json::Value value) {
  return value.is_string() ? value.str() : std::string(value.raw());
}

// Writes one task::Message as the equivalent AG-UI messages.
class MessageWriter {
 public:
  MessageWriter(json::Writer& out, const Message& message, std::string id, bool newer, chat::Names& names)
      : out_(out), message_(message), id_(std::move(id)), newer_(newer), names_(names) {
    for (const Part& part : message.parts) {
      if (part.kind == Part::Kind::data) look_into(part);
      if (shows_in_content(part)) content_.push_back(part);
    }
  }

  void write() {
    for (const json::Document& result : results_) write_result(result.root()["toolResult"]);
    if (message_.role == task::Role::agent) return write_assistant();
    if (content_.empty()) return;
    start([&] { write_content(out_.member("role", role()).key("content"), content_, newer_); });
  }

 private:
  void look_into(const Part& part) {
    auto document = json::Document::parse_view(part.content);
    if (!document) return;
    if (document->root()["toolCall"].is_object()) {
      calls_.push_back(std::move(*document));
    } else if (document->root()["toolResult"].is_object()) {
      results_.push_back(std::move(*document));
    }
  }

  std::string role() const {
    const auto metadata = json::Document::view_of(message_.metadata.text);
    const std::string role = metadata.root()["role"].str();
    return role == "system" || role == "developer" ? role : "user";
  }

  // Writes the object of one message, with a unique id: clients fail on a repeated id.
  template <class F>
  void start(F&& members) {
    const std::string id = names_.fresh(id_);
    out_.object([&] {
      out_.member("id", id);
      members();
    });
  }

  void write_result(json::Value result) {
    start([&] {
      const std::string error = result["error"].str();
      out_.member("role", "tool").member("toolCallId", result["id"].string());
      out_.member("content", error.empty() ? as_text(result["content"]) : error);
      out_.optional("error", error);
    });
  }

  void write_assistant() {
    const std::string text = task::text_of(content_);
    if (text.empty() && calls_.empty()) return;
    start([&] {
      out_.member("role", "assistant").optional("content", text);
      if (calls_.empty()) return;
      out_.key("toolCalls").each(calls_, [&](const json::Document& call) {
        write_call(call.root()["toolCall"]);
      });
    });
  }

  void write_call(json::Value call) {
    out_.object([&] {
      out_.member("id", call["id"].string()).member("type", "function");
      out_.key("function").object([&] {
        out_.member("name", call["name"].string());
        out_.member("arguments", call["arguments"].missing() ? "{}" : as_text(call["arguments"]));
      });
    });
  }

  json::Writer& out_;
  const Message& message_;
  const std::string id_;
  const bool newer_;
  std::vector<Part> content_;
  std::vector<json::Document> calls_, results_;
  chat::Names& names_;  // of the whole snapshot
};

}  // namespace

void write_messages(json::Writer& out, const std::vector<Message>& messages, bool newer,
                    const std::vector<json::Value>& earlier) {
  out.array([&] {
    chat::Names names;
    for (const json::Value message : earlier) {
      (void)names.fresh(message["id"].str());
      out.raw(message.raw());
    }
    int number = 0;
    for (const Message& message : messages) {
      ++number;
      std::string id = message.id.empty() ? "message-" + std::to_string(number) : message.id.value;
      MessageWriter(out, message, std::move(id), newer, names).write();
    }
  });
}

}  // namespace baton::protocol::agui
