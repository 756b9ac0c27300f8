// A run as AG-Kit's events.
//
// All text of a run is one text to the client, so a blank line goes between one reply and the next. A server
// tool's call that is still open where the run ends is closed by a result that says so: an open call would
// keep the client from ever sending the results of its own. Threads: one at a time.
#pragma once

#include <unordered_set>
#include <utility>

#include "wire/chat/run_view.h"

namespace baton::wire::agkit {

class View final : public chat::RunView {
 public:
  explicit View(chat::RunFacts facts) : facts_(std::move(facts)) {}

  void show(const task::Event& event, chat::Frames& out) override;

 private:
  void show_status(const task::StatusChanged& changed, chat::Frames& out);
  void show_delta(const task::TextDelta& delta, chat::Frames& out);
  void show_chunk(const task::ArtifactChunk& chunk, chat::Frames& out);
  void show_message(const task::Message& message, chat::Frames& out);
  void show_call(const task::ToolCall& call, task::EventNumber number, chat::Frames& out);
  void show_result(const task::ToolResult& result, chat::Frames& out);
  void ask(const chat::Question& question, chat::Frames& out);

  // Text of `unit`, after a blank line if other text is right before it.
  void say(const std::string& unit, std::string_view text, chat::Frames& out);
  void close_calls(chat::Frames& out);

  struct OpenCall {
    std::string id;     // the agent's
    std::string shown;  // another one for a call that repeats an id of this run
  };
  const chat::RunFacts facts_;
  std::vector<OpenCall> open_calls_;  // server tools' calls without a result
  std::unordered_set<std::string> call_ids_;
  std::string unit_;         // what the last text belongs to
  bool after_text_ = false;  // the client would join further text to what it has
  bool over_ = false;
};

// The frames that ask outside of a run.
void show_interrupt(const chat::Question& question, chat::Frames& out);

}  // namespace baton::wire::agkit
