// Model: records what the store was given, in order, and checks the promises (README.md) against it. The
// store reports each group when it is committed and when it is flushed. Every reader asks the model whether
// what it was shown is durable and true. The first broken promise ends the run (Fibers::fail).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fibers.h"
#include "store/task_store.h"

namespace baton::simulation {

// An agent's output consists of pieces "<turn>/<attempt>:<number> ", numbered from 1.
std::string piece(const std::string& turn, int attempt, int number);

std::uint64_t fingerprint(const task::Event& event);

class Model {
 public:
  struct Event {
    std::uint64_t print = 0;
    task::EventBody body;
    task::State state = task::State::submitted;  // after the event
    task::TaskHead before, head;                 // before and after the event's change
  };
  struct Task {
    std::vector<Event> log;
    std::int64_t durable = 0;     // the number of durable events
    task::TaskHead durable_head;  // also has changes without an event
    bool waited_at_kill = false;  // its turn waited
    bool asked_at_kill = false;   // it waited for its caller
    bool gone = false;            // its removal is committed; the log stays
    bool erased = false;          // removed by an operator, with webhooks that waited
    const task::TaskHead& head() const { return log.back().head; }
    task::State durable_state() const { return log[static_cast<std::size_t>(durable) - 1].state; }
  };

  // Calls of the store: `applied`, to the open group; `rolled_back`, the group is gone; `committed`;
  // `flushed`, all that was committed is durable; `lose_unflushed`, the power was lost.
  void applied(const store::Committed& committed, bool reopens);
  // A task was removed in the open group. `delivers`: one of its webhooks waited.
  void removed(task::TaskKey task, bool erases, bool delivers);
  void rolled_back();
  void committed();
  void flushed();
  void lose_unflushed();
  // The program was killed.
  void note_kill();
  // The task's caller cancels it.
  void note_cancel(task::TaskKey task) { canceled_.insert(task.value); }
  // Sets how far the nodes' clocks may be ahead.
  void set_clocks_ahead(Time time) { clocks_ahead_ = time; }
  // An operator requeues the task's running turn.
  void note_requeue(task::TaskKey task) { requeued_.insert(task.value); }
  bool was_requeued(task::TaskKey task) const { return requeued_.contains(task.value); }
  bool was_canceled(task::TaskKey task) const { return canceled_.contains(task.value); }

  // Checks an event that a reader was shown: it must be durable, be the one in the log, and come next after
  // `last`, the number of the event that this reader was shown before.
  void shown(task::TaskKey task, const task::Event& event, std::int64_t last) const;
  // The children that, as the log says, were delegated for the message of the turn that begins now, by the
  // agent's name for each; without detached ones. A null key: the child could not be made.
  std::map<std::string, task::TaskKey> delegated(task::TaskKey parent) const;
  // True if, as the log says, this child had not stopped when the turn began.
  bool is_awaited(task::TaskKey parent, const std::string& call) const;
  // Checks that the task's events up to this one are durable.
  void acknowledged(task::TaskKey task, task::EventNumber last, const char* what) const;
  // The last event that anybody was shown. A later read must not show less.
  std::int64_t told_of(task::TaskKey task) const { return told_[task.value]; }
  // The task's status just after this event, which must be durable.
  task::State state_at(task::TaskKey task, task::EventNumber event) const;

  // Also finds tasks that are gone.
  const Task& task(task::TaskKey key) const;
  bool is_gone(task::TaskKey key) const { return task(key).gone; }
  task::TaskKey key_of(const std::string& id) const;
  const std::map<std::int64_t, Task>& tasks() const { return tasks_; }
  bool has_open_group() const { return !group_.empty(); }
  bool has_unflushed() const { return !unflushed_.empty(); }
  bool has_unflushed_removal() const { return !gone_unflushed_.empty(); }

 private:
  struct Applied {
    store::Committed committed;
    bool reopens;
  };
  struct Removed {
    task::TaskKey task;
    bool erases, delivers;
  };
  void note_told(task::TaskKey key, task::EventNumber last) const;
  void commit(const Applied& one, std::set<std::int64_t>& begun_to_wait);
  void commit(const Removed& one);
  void check_end(const Task& task, const task::Event& event, bool reopens) const;
  void check_attempt(const task::TaskHead& before, const task::TaskHead& head) const;
  void check_wake(const task::TaskHead& before, const task::TaskHead& head,
                  const store::Committed& committed) const;
  void check_answer(const Task& task) const;
  void check_cancel(const task::TaskHead& child, task::State before) const;
  void check_speaker(const Task& task, const task::TaskHead& before, const task::Event& event) const;

  std::map<std::int64_t, Task> tasks_;
  std::map<std::string, task::TaskKey> keys_;  // by id; callers' own ids are unique here
  std::vector<std::variant<Applied, Removed>> group_;
  std::set<std::int64_t> canceled_;  // by their callers
  std::set<std::int64_t> requeued_;
  Time clocks_ahead_{};                                // at most
  mutable std::map<std::int64_t, std::int64_t> told_;  // by task: the last event that anybody was shown
  std::set<std::int64_t> unflushed_;                   // tasks with events that are not durable
  std::set<std::int64_t> gone_unflushed_;
};

// The task's log as text, to investigate a violation.
std::string told(const Model::Task& task);

}  // namespace baton::simulation
