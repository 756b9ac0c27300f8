// View: a run's log as AG-UI events, in an order that the clients' verifiers accept whatever the log holds.
//
// A verifier fails the whole run for one event out of place. So everything open is closed before the last
// frame, ids are used only once, and what a client's generation does not know is left out or shown in an
// older form. Threads: one at a time.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/agui/open_reasoning.h"
#include "protocol/agui/open_texts.h"
#include "protocol/agui/open_work.h"
#include "protocol/agui/out.h"
#include "protocol/agui/usage_sum.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::agui {

class View final : public chat::RunView {
 public:
  explicit View(const chat::RunFacts& facts);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  void show(const task::Event& event, chat::Frames& out) override;

 private:
  void show_one(const task::StatusChanged& event, Out& out);
  void show_one(const task::MessageAdded& event, Out& out);
  void show_one(const task::TextDelta& event, Out& out);
  void show_one(const task::ArtifactChunk& event, Out& out);
  void show_one(const task::ToolCall& event, Out& out);
  void show_one(const task::ToolResult& event, Out& out);
  void show_one(const task::StateSnapshot& event, Out& out);
  void show_one(const task::StateDelta& event, Out& out);
  void show_one(const task::Step& event, Out& out) { steps_.show(event, out); }
  void show_one(const task::Withdrawn& event, Out& out);
  void show_one(const task::Custom& event, Out& out);
  void show_one(const task::ReasoningDelta& event, Out& out);
  void show_one(const task::Activity& event, Out& out);
  void show_one(const task::Subagent& event, Out& out) { subagents_.show(event, out); }
  void show_one(const task::Usage& event, Out&) { usage_.add(event.used); }

  void show_note(const task::StatusChanged& note, Out& out);
  void show_message(const task::Message& message, bool with_data, Out& out);
  void show_call(const std::string& id, const std::string& name, const std::string& arguments, Out& out);
  void stop(const task::StatusChanged& change, Out& out);
  void ask(const task::StatusChanged& waiting, Out& out);
  void close_all(OpenSubagents::Ending subagents, Out& out);

  // Unique in the conversation, and the same each time the run is shown.
  std::string own_id() const;

  const chat::RunFacts facts_;
  bool started_ = false;
  bool over_ = false;
  task::EventNumber number_;  // of the event being shown

  Names names_;
  OpenTexts texts_{names_};
  OpenReasoning reasoning_;
  OpenSteps steps_;
  OpenSubagents subagents_;
  UsageSum usage_;
  // Calls of server tools: the log's id to the client's.
  std::unordered_map<std::string, std::string> calls_;
  std::vector<std::string> client_calls_;               // calls whose results the client gives
  std::unordered_set<std::string> shown_client_calls_;  // the same, plus those of withdrawn attempts
  std::unordered_set<std::string> answered_;            // calls, as the log names them
};

}  // namespace baton::protocol::agui
