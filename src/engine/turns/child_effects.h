// What turns ask of their tasks' children, and tell them. Turns know no children: they tell one listener,
// which is set once (TurnRunner::listen) and is delegate/.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "agents/executor.h"
#include "engine/decide/rules/child_questions.h"
#include "task/head.h"

namespace baton::engine {

class RunningTurn;

// The turn asks for a child. It gets the result or an error: RunningTurn::begun or no_child comes first.
// `nth`: how often this turn has used the request's id, with this one (see digest_of_call).
struct ChildWanted {
  std::shared_ptr<RunningTurn> run;
  agents::DelegateRequest request;
  int nth = 1;
};

// The child's result is not needed any more, and the log says so.
struct ChildUnneeded {
  task::TaskKey child;
};

// A turn of a task that may have children is over. If the task has ended, its open children are not needed.
struct TurnOver {
  task::TaskHead head;
};

// This node has taken the task's turn from another node: the children that it awaits tell this one from now
// on, before the turn goes on.
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
