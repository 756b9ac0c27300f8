// Messages: the messages of one response and their contents.
//
// Writes each object as a frame, numbers all objects of the stream, and keeps the completed messages for the
// response's `output`. A message is begun, gets its contents one after another, and is completed or given up.
// Several may be open at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "protocol/chat/run_view.h"
#include "task/event.h"

namespace baton::protocol::agent_api {

// How a message is shown. `source`: its name within the log; empty: nobody will look it up.
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
  void begin_event(task::EventNumber event, chat::Frames& out);

  // A reference stays valid until a message is begun, completed or given up.
  class Open;
  Open& begin(MessageKind kind);
  Open* find(std::string_view source);

  // Adds a piece of text. The next content, or the end of the message, completes the text.
  void add_text(Open& message, std::string_view piece);
  void end_text(Open& message) { close_text(message, "completed"); }
  void add_part(Open& message, const task::Part& part);
  void add_parts(Open& message, const std::vector<task::Part>& parts);

  void complete(Open& message);
  void complete_all();
  // Ends the message as incomplete; it is not part of the output.
  void give_up(Open& message);
  void give_up_all();
  // Gives the message up if it is open, and removes it from the output.
  void forget(std::string_view source);

  std::int64_t next_number() { return next_number_++; }
  void write_output(json::Writer& out) const;

 private:
  struct Completed {
    std::string source;
    std::string json;
  };

  void show_message(Open& message, std::string_view status);
  template <class F>
  const std::string& show_content(const Open& message, std::string_view status, bool delta, F&& members);
  void close_text(Open& message, std::string_view status);
  void end(Open& message, std::string_view status);

  const std::string task_;
  task::EventNumber event_;
  int begun_ = 0;  // with this event
  chat::Frames* out_ = nullptr;
  std::int64_t next_number_ = 0;
  std::vector<Open> open_;
  std::vector<Completed> completed_;
};

class Messages::Open {
  friend class Messages;
  Open(std::string id, MessageKind kind) : id_(std::move(id)), kind_(std::move(kind)) {}

  std::string id_;
  MessageKind kind_;
  std::vector<std::string> contents_;  // finished contents, as in their frames
  std::string text_;                   // of the open content
  bool text_open_ = false;
};

}  // namespace baton::protocol::agent_api
