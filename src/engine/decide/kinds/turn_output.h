// TurnOutput: stores the new output of a running turn, or its end. Depends only on the row and its members.
// Removes the events that it stores from `output` and `childless`.
//
// Threads: the engine's, under the lock of the turn that owns `output`.
#pragma once

#include <string>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/child_questions.h"
#include "engine/decide/rules/pending_output.h"

namespace baton::engine {

struct TurnOutput {
  task::TaskKey task;
  task::TurnNumber turn;
  int attempt = 0;
  PendingOutput& output;                     // without what an earlier decision took and did not store
  std::vector<task::Subagent>& childless;    // requests without a child: logged if the turn waits
  const agents::Outcome* outcome = nullptr;  // null: the turn continues
  bool is_over = false;                      // nothing of the turn is stored any more
  bool cancel_requested = false;
  bool undoes = false;             // if it waits when canceled, the next turn undoes its work
  bool is_undoing = false;         // its executor knows of the cancel
  bool is_used_up = false;         // the turn has used up the task's tokens: it waits for nothing
  std::string cancel_reason = {};  // the text of the canceled status; empty: none
  agents::AgentSettings::ReplyAs reply_as = agents::AgentSettings::ReplyAs::artifact;
  ChildQuestions::Turnover turnover = {};  // of the row's head
  base::Timestamp at{};

  bool is_lost = false;  // result: this turn is no longer the row's running one

  // Refuses with conflict if the turn is no longer the running one (`is_lost`).
  base::Result<task::Change> decide(const store::TaskRow& now);

 private:
  task::Change going(const task::TaskHead& head);
  task::Change ending(const store::TaskRow& now);
  void log_childless();
};

}  // namespace baton::engine
