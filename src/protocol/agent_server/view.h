// View: a run as the Agent Server's events.
//
// A response's id is made from the task's, plus the number of the run's first event unless that is the task's
// first. A message's id is made from its reply's or artifact's, plus the number of its first event if the run
// has used that id before (a reply that began again). Threads: one at a time.
#pragma once

#include <utility>

#include "json/writer.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::agent_server {

class View final : public chat::RunView {
 public:
  View(chat::RunFacts facts, std::string response_event)
      : facts_(std::move(facts)), response_event_(std::move(response_event)) {}

  void show(const task::Event& event, chat::Frames& out) override;

 private:
  struct Content {
    bool is_text = true;
    std::string text;  // the text so far, or the content's JSON
  };
  struct Message {
    std::string source;  // the reply or artifact it shows; empty for a message said as a whole
    std::string id;
    std::vector<Content> contents;
  };
  struct Completed {
    std::string source;
    std::string json;
  };
  struct Failure {
    std::string_view code;
    std::string message;
  };

  void show_status(const task::StatusChanged& changed, chat::Frames& out);
  void show_delta(const task::TextDelta& delta, chat::Frames& out);
  void show_chunk(const task::ArtifactChunk& chunk, chat::Frames& out);
  void show_call(const task::ToolCall& call, chat::Frames& out);
  void show_result(const task::ToolResult& result, chat::Frames& out);
  void show_withdrawn(const task::Withdrawn& withdrawn, chat::Frames& out);
  void ask(const chat::Question& question, chat::Frames& out);

  // Shows what was said as a whole, as a message of its own.
  void say(const std::vector<task::Part>& parts, chat::Frames& out);
  // Returns the open message for `source`. Begins one, with the id `wish` if free, if there is none or if
  // `anew`.
  Message& message_for(const std::string& source, const std::string& wish, bool anew, chat::Frames& out);
  Message& begin_message(std::string source, std::string id, chat::Frames& out);
  void add_text(Message& message, std::string_view text, chat::Frames& out);
  void add_part(Message& message, const task::Part& part, chat::Frames& out);
  // Ends an open message as completed or incomplete.
  void end(const std::string& source, std::string_view status, chat::Frames& out);
  void end_all(std::string_view status, chat::Frames& out);
  // Removes the completed messages of `source` from the output.
  void forget(const std::string& source);
  void add_tool_use(std::string_view kind, std::string_view data, chat::Frames& out);

  void begin(const task::Event& event, chat::Frames& out);
  void go_to_work(chat::Frames& out);
  void respond(std::string_view status, chat::Frames& out, const Failure* failure = nullptr);
  // The id for the event being shown.
  std::string own_id() const;
  // Returns an id that is new in this run: `wish`, or `wish` with the event's number.
  std::string new_id(std::string wish);
  // Writes the members that each object begins with.
  json::Writer& head(json::Writer& out, std::string_view object, std::string_view status);

  const chat::RunFacts facts_;
  const std::string response_event_;
  std::string response_id_;
  std::int64_t created_at_ = 0;
  std::int64_t sequence_ = 0;
  task::EventNumber now_;  // the event being shown
  bool works_ = false;     // in_progress was shown
  bool over_ = false;
  std::vector<Message> open_;
  std::vector<Completed> completed_;  // the final response's output
  std::vector<std::string> ids_;
  std::vector<std::pair<std::string, std::string>> calls_;  // tool names by call id
};

}  // namespace baton::protocol::agent_server
