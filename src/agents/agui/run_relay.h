// RunRelay: passes the output of a run at an AG-UI endpoint to the sink of the turn here.
//
// Strict clients fail a run for one event out of place, so such events are left out, and calls and steps
// that were left open are closed at the end. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/call_ids.h"
#include "agents/text_mark.h"
#include "agents/turn_output.h"
#include "agents/unfinished_steps.h"
#include "protocol/agui/run_reader.h"

namespace baton::agents {

class RunRelay {
 public:
  // The first two must outlive this. `arguments_max`: bytes of the calls of client tools that are held until
  // the run ends.
  RunRelay(const Turn& input, TurnOutput& turn, std::size_t arguments_max);

  void tell(protocol::agui::RunPiece piece);
  // Closes the open calls and steps.
  void close();
  // Closes the open calls and steps, and ends the turn.
  void finish(const protocol::agui::RunEnd& end);

  bool has_told() const { return has_told_; }
  // Why the run must be given up; empty if it may continue.
  const std::string& refusal() const { return refusal_; }
  // The bytes of the client tool calls that are held.
  std::size_t held() const { return client_bytes_; }

 private:
  void tell_one(protocol::agui::RunText text);
  void tell_one(const protocol::agui::RunSnapshot& snapshot);
  void tell_one(protocol::agui::RunReasoning reasoning);
  void tell_one(task::EventBody body);
  // A message of the run: what was passed on of it.
  struct Said {
    TextMark text = {};
    bool has_ended = false;
  };
  Said* find_or_begin(const std::string& id);
  void say_whole(const std::string& id, const std::string& text);
  std::set<std::string> answered_by_caller() const;
  void keep_call(task::ToolCall call);
  void keep_shown_call(const protocol::agui::RunSnapshot& snapshot);
  void count_call(const task::ToolCall& call);
  void tell_result(task::ToolResult result);
  void emit(task::EventBody body);
  Outcome outcome_of(const protocol::agui::RunEnd& end);
  Outcome ask(const std::vector<protocol::agui::Interrupt>& interrupts) const;

  const Turn& input_;
  TurnOutput& turn_;
  std::set<std::string> client_tools_;
  CallIds call_ids_;
  UnfinishedSteps open_;
  // The calls of client tools that have no result yet, in order, and the place of each by its id.
  std::map<std::uint64_t, task::ToolCall> client_calls_;
  std::unordered_map<std::string, std::uint64_t> client_call_places_;
  std::uint64_t next_call_ = 0;
  // The first open call of a client tool in the last snapshot. It matters only if events tell no open call.
  std::optional<task::ToolCall> shown_call_;
  // The ids of calls with results, as a snapshot may repeat such a call without its result: those of this
  // run, and those of the caller once they were needed.
  std::set<std::string> answered_;
  std::optional<std::set<std::string>> by_caller_;
  std::size_t client_bytes_ = 0;
  const std::size_t arguments_max_;
  std::string refusal_;
  std::set<std::string> artifacts_;
  std::map<std::string, Said> messages_;  // by their ids
  std::size_t compared_ = 0;              // the sum of the messages that each snapshot was compared with
  // Messages of the conversation before the run, by id, and texts of the task before the turn. A snapshot
  // repeats them, but they are not passed on again.
  std::set<std::string> earlier_ids_, earlier_texts_;
  bool has_told_ = false;
};

}  // namespace baton::agents
