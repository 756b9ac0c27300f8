// Send: takes a message into a new or an existing task, from a caller or, for a child, from an agent.
//
// Deciding reserves room for the turn that the message begins, and marks the child's question that it
// answers. So a send that was decided must be given back, unless it is stored: `give_back`, which `decide`
// itself does first. Threads: the engine's, until it is told.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agents/cards/catalogue.h"
#include "base/clock.h"
#include "engine/decide/rules/basics.h"
#include "engine/decide/rules/child_questions.h"
#include "engine/scheduling/scheduler.h"
#include "engine/scheduling/wakes.h"
#include "engine/shared/options.h"

namespace baton::engine {

// What sends look at besides the row.
struct SendRules {
  const agents::Catalogue& catalogue;
  const EngineOptions& options;
  const base::Clock& clock;
  Scheduler& scheduler;
  const Wakes& wakes;
  ChildQuestions& questions;
  store::NodeId self;  // none: the store is not shared
};

// Further terms of a send for an agent: a new task becomes a child of `parent`.
struct ForChild {
  task::TaskKey parent;
  bool detached = false;  // of a new task
  // The task's last status must be this question, which the message answers; else: conflict.
  task::EventNumber question = {};
};

struct Send {
  Send(const SendRules& its_rules, task::Submission what) : rules(its_rules), submission(std::move(what)) {}

  const SendRules& rules;
  task::TaskKey task = {};  // none: the message begins a new one
  task::Submission submission;
  ForChild terms;
  Scheduler::Claim claim;
  std::optional<task::SendDigest> digest;  // none: never a repetition
  task::EventNumber fitted;  // the question whose schema the message fits; none: it was to answer none
  bool has_learned = false;  // another node's question was looked for

  // Results.
  Scheduler::Room room = Scheduler::Room::none;  // what it has reserved
  bool came_late = false;                        // the task that its context had waiting waits no more
  bool must_fit = false;  // the task waits with another question: the message has to be checked first
  std::optional<ChildQuestion> answers;  // the question that it answers, marked as answered
  bool wants_question = false;           // that another node has: it has to be learned first
  AskParts ask;                          // of that
  task::TaskKey asked;                   // the task that showed it, and since when
  task::EventNumber asked_at;

  base::Result<task::Change> decide(const store::TaskRow& now);
  // The send was not stored: gives back the room and the question.
  void give_back();

  // Returns true if the message is a caller's or an agent's own: what a parent passes on was checked when it
  // was given to the parent.
  bool checks_answer() const { return !terms.question; }

 private:
  base::Result<task::Change> create() const;
  base::Result<void> delay(task::Change& change) const;
  base::Result<task::Change> go_on(const store::TaskRow& now);
  task::Change answer(const task::TaskHead& head);
  void bind_children(const task::TaskHead& head, task::Change& change) const;
  std::shared_ptr<const task::Budget> budget(const task::TaskHead* before) const;
  base::Result<void> make_room(task::Change& change);
  bool is_later() const { return submission.start_at && *submission.start_at > rules.clock.now(); }
};

}  // namespace baton::engine
