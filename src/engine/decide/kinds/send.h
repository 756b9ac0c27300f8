// Send: adds a message to a new or an existing task, from a caller or, for a child, from an agent.
//
// Deciding reserves room for the turn that the message begins, and marks the child's question that it
// answers. If a decided send is not stored, `give_back` must return both; `decide` calls it first. Threads:
// the engine's, until `done` is called.
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

// The inputs of a send besides the row.
struct SendRules {
  const agents::Catalogue& catalogue;
  const EngineOptions& options;
  const base::Clock& clock;
  Scheduler& scheduler;
  const Wakes& wakes;
  ChildQuestions& questions;
  store::NodeId self;  // unset if the store is not shared
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
  task::TaskKey task = {};  // unset: the message begins a new task
  task::Submission submission;
  ForChild terms;
  Scheduler::RoomRequest room_request;
  std::optional<task::SendDigest> digest;  // unset: never a repetition
  task::EventNumber fitted;  // the question whose schema the message fits; unset: not checked against any
  bool has_learned = false;  // another node's question was looked up

  // Results.
  Scheduler::Room room = Scheduler::Room::none;  // what was reserved
  bool came_late = false;                        // the task that waited in its context no longer waits
  bool must_fit = false;  // the task waits with another question: the message has to be checked first
  std::optional<ChildQuestion> answers;  // the question that it answers, marked as answered
  bool wants_question = false;           // another node has the question, which has to be learned first
  AskParts ask;                          // the parts of its id
  task::TaskKey asked;                   // the task that showed it; `asked_at`: since when
  task::EventNumber asked_at;

  base::Result<task::Change> decide(const store::TaskRow& now);
  // Gives back the room and the question of a send that was not stored.
  void give_back();

  // Returns true if an answer must be checked: it is a caller's or an agent's own. An answer that a parent
  // passes on was checked when the parent received it.
  bool checks_answer() const { return !terms.question; }

 private:
  base::Result<task::Change> create() const;
  base::Result<void> delay(task::Change& change) const;
  base::Result<task::Change> add_to_task(const store::TaskRow& now);
  task::Change answer(const task::TaskHead& head);
  void bind_children(const task::TaskHead& head, task::Change& change) const;
  std::shared_ptr<const task::Budget> budget(const task::TaskHead* before) const;
  base::Result<void> make_room(task::Change& change);
  bool is_later() const { return submission.start_at && *submission.start_at > rules.clock.now(); }
};

}  // namespace baton::engine
