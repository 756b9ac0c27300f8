// View: a run as AG-Kit's events.
//
// To the client, all text of a run is one text, so a blank line separates replies. A server tool's call that
// is still open when the run ends or an attempt is withdrawn gets a result that says so: an open call would
// keep the client from ever sending the results of its own tools. Threads: one at a time.
#pragma once

#include <unordered_set>
#include <utility>

#include "protocol/chat/run_view.h"

namespace baton::protocol::agkit {

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

  // Shows text of `unit`, after a blank line if it directly follows other text.
  void say(const std::string& unit, std::string_view text, chat::Frames& out);
  void close_calls(chat::Frames& out);

  struct OpenCall {
    std::string id;     // the agent's
    std::string shown;  // differs from `id` if the call repeats an id of this run
  };
  const chat::RunFacts facts_;
  std::vector<OpenCall> open_calls_;  // calls of server tools without a result
  std::unordered_set<std::string> call_ids_;
  std::string unit_;         // the unit of the last text
  bool after_text_ = false;  // the client would append further text to the last
  bool over_ = false;
};

// Shows a question outside of a run.
void show_interrupt(const chat::Question& question, chat::Frames& out);

}  // namespace baton::protocol::agkit
