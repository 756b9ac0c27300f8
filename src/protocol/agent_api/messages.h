// Messages: the messages of one response and their contents.
//
// Writes each object as a frame, numbers all objects of the stream, and keeps the completed messages for the
// response's `output`. A message is begun, gets its contents one after another, and is completed or given up.
// Several may be open at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/give_back.h"
#include "json/writer.h"
#include "protocol/agent_api/content.h"
#include "protocol/chat/run_view.h"
#include "protocol/chat/source_list.h"
#include "task/event.h"

namespace baton::protocol::agent_api {

// How a message is shown. `source`: its name within the log; empty if it will not be looked up.
struct MessageKind {
  std::string_view type = "message";
  std::string_view role = "assistant";
  std::string source = {};
  task::Json metadata = {};
};

class Messages {
 public:
  explicit Messages(std::string task) : task_(std::move(task)) {}

  // Messages begun from now on show this event and go to these frames.
  void begin_event(task::EventNumber event, chat::Frames& out) {
    event_ = event;
    out_ = &out;
    begun_ = 0;
  }

  // A reference stays valid until the message is completed or given up.
  class Open {
    friend class Messages;
    Open(std::string id, MessageKind kind) : id_(std::move(id)), kind_(std::move(kind)) {}

    std::string id_;
    MessageKind kind_;
    std::vector<std::string> contents_;  // finished contents, as in their frames
    std::string text_;                   // of the open content
    bool text_open_ = false;
  };
  // The id names the event that the message began with. So it is unique in the task, and the same when the
  // message is shown again.
  Open& begin(MessageKind kind) {
    std::string id = "msg_" + task_ + "-" + std::to_string(event_.value);
    if (++begun_ > 1) id += "." + std::to_string(begun_);
    std::string source = kind.source;
    Open& message = open_.add(std::move(source), Open(std::move(id), std::move(kind)));
    // The documentation's example begins with `created`, the reference server with `in_progress`; for tools
    // only the latter is known.
    const bool speaks = message.kind_.type == "message" || message.kind_.type == "reasoning";
    if (speaks) show_message(message, "created");
    show_message(message, "in_progress");
    return message;
  }

  Open* find(const std::string& source) { return open_.find(source); }

  // Adds a piece of text. The next content, or the end of the message, completes the text.
  void add_text(Open& message, std::string_view piece) {
    if (piece.empty()) return;
    message.text_open_ = true;
    message.text_ += piece;
    const std::int64_t number = next_number();
    if (out_->skips_next()) return;
    write_content_frame(out_->add(), number, message, "in_progress", true,
                        [&](json::Writer& out) { out.member("type", "text").member("text", piece); });
  }

  void end_text(Open& message) { close_text(message, "completed"); }

  void add_part(Open& message, const task::Part& part) {
    if (is_plain_text(part)) {
      add_text(message, part.content);
      end_text(message);
      return;
    }
    end_text(message);
    complete_content(message, "completed", [&](json::Writer& out) { write_content(out, part); });
  }

  void add_parts(Open& message, const std::vector<task::Part>& parts) {
    for (const task::Part& part : parts) add_part(message, part);
  }

  void complete(Open& message) { end(message, "completed"); }

  void complete_all() {
    while (!open_.empty()) complete(open_.front().value);
  }

  // Ends the message as incomplete; it is not part of the output.
  void give_up(Open& message) { end(message, "incomplete"); }

  void give_up_all() {
    while (!open_.empty()) give_up(open_.front().value);
  }

  // Gives the message up if it is open, and removes it from the output.
  void forget(const std::string& source) {
    if (Open* message = find(source)) give_up(*message);
    completed_.remove(source);
  }

  std::int64_t next_number() { return next_number_++; }

  void write_output(json::Writer& out) const {
    out.key("output").each(completed_, [&](const auto& message) { out.raw(message.value); });
  }

 private:
  // Shows the message and takes its contents, if it has any. A completed one becomes part of the output.
  void show_message(Open& message, std::string_view status) {
    const std::int64_t number = next_number();
    const bool is_complete = status == "completed", is_skipped = out_->skips_next();
    if (is_skipped && !is_complete) return;
    std::string json;
    json::Writer out(json);
    out.object([&] {
      out.member("sequence_number", number).member("object", "message").member("status", status);
      out.member("id", message.id_).member("type", message.kind_.type).member("role", message.kind_.role);
      const std::vector<std::string> contents = std::exchange(message.contents_, {});
      if (!contents.empty()) {
        out.key("content").each(contents, [&](const std::string& content) { out.raw(content); });
      }
      out.optional("metadata", message.kind_.metadata);
    });
    if (!is_complete) {
      out_->add() = std::move(json);
      return;
    }
    if (!is_skipped) out_->add() = json;
    completed_.add(message.kind_.source, std::move(json));
  }

  template <class F>
  static void write_content_frame(std::string& to, std::int64_t number, const Open& message,
                                  std::string_view status, bool delta, F&& members) {
    json::Writer out(to);
    out.object([&] {
      out.member("sequence_number", number).member("object", "content").member("status", status);
      out.member("index", static_cast<std::int64_t>(message.contents_.size())).member("delta", delta);
      out.member("msg_id", message.id_);
      members(out);
    });
  }

  // Shows a whole content and adds it to the message.
  template <class F>
  void complete_content(Open& message, std::string_view status, F&& members) {
    std::string json;
    write_content_frame(json, next_number(), message, status, false, members);
    if (!out_->skips_next()) out_->add() = json;
    message.contents_.push_back(std::move(json));
  }

  void close_text(Open& message, std::string_view status) {
    if (!message.text_open_) return;
    complete_content(message, status,
                     [&](json::Writer& out) { out.member("type", "text").member("text", message.text_); });
    base::give_back(message.text_);
    message.text_open_ = false;
  }

  void end(Open& message, std::string_view status) {
    close_text(message, status);
    show_message(message, status);
    open_.remove(std::string(message.kind_.source), message);
  }

  const std::string task_;
  task::EventNumber event_;
  int begun_ = 0;  // with this event
  chat::Frames* out_ = nullptr;
  std::int64_t next_number_ = 0;
  chat::SourceList<Open> open_;
  chat::SourceList<std::string> completed_;  // as JSON
};

}  // namespace baton::protocol::agent_api
