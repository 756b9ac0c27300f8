// RunRelay: what an AG-UI endpoint says in a run, told to the sink of ours.
//
// Strict clients fail a run for one event out of place, so what does not fit is left out, and what is left
// open is closed at the end. Threads: one at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "agents/command/call_ids.h"
#include "agents/command/unfinished_steps.h"
#include "agents/function_executor.h"
#include "protocol/agui/run_reader.h"

namespace baton::agents {

class RunRelay {
 public:
  explicit RunRelay(FunctionTurn& turn);

  void tell(protocol::agui::RunPiece piece);
  // Closes what is open.
  void close();
  // The same, and ends the turn.
  void finish(const protocol::agui::RunEnd& end);

  bool has_told() const { return has_told_; }

 private:
  void tell_one(protocol::agui::RunText text);
  void tell_one(protocol::agui::RunReasoning reasoning);
  void tell_one(task::EventBody body);
  void tell_result(task::ToolResult result);
  void emit(task::EventBody body);
  Outcome outcome_of(const protocol::agui::RunEnd& end);
  Outcome ask(const std::vector<protocol::agui::Interrupt>& interrupts) const;

  FunctionTurn& turn_;
  std::set<std::string> client_tools_;
  CallIds call_ids_;
  UnfinishedSteps open_;
  std::vector<task::ToolCall> client_calls_;  // of the client's tools, without a result so far
  std::set<std::string> artifacts_;
  std::string message_;  // whose text was told last
  bool has_told_ = false;
};

}  // namespace baton::agents
