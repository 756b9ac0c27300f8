// Events that turns emit about their tasks' children. Turns do not handle children themselves: they report to
// one listener, which delegate/ sets once with TurnRunner::listen.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "agents/executor.h"
#include "engine/decide/rules/child_questions.h"
#include "task/head.h"

namespace baton::engine {

class RunningTurn;

// The turn asks for a child. The listener first calls RunningTurn::begun or no_child; the turn then gets the
// result or an error.
// `nth`: how many times this turn has used the request's id, this time included (see digest_of_call).
struct ChildWanted {
  std::shared_ptr<RunningTurn> run;
  agents::DelegateRequest request;
  int nth = 1;
};

// The child's result is no longer needed, and the parent's log says so.
struct ChildUnneeded {
  task::TaskKey child;
};

// A turn of a task that may have children is over. If the task has ended, its open children are not needed.
struct TurnOver {
  task::TaskHead head;
};

// This node has taken over the task's turn from another node. The children that the turn awaits must report
// to this node before the turn continues.
struct TurnTakenOver {
  task::TaskHead head;
};

// The parent's caller has answered a child's question, and the answer is in the parent's log.
struct QuestionAnswered {
  task::TaskHead parent;
  ChildQuestion question;
  task::Message answer;
};

using ChildEffect = std::variant<ChildWanted, ChildUnneeded, TurnOver, TurnTakenOver, QuestionAnswered>;
// Called on any thread; must not block.
using ChildListener = std::function<void(ChildEffect)>;

}  // namespace baton::engine
