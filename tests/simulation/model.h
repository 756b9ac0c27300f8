// Model: what the store was given, in order, and the promises held against it (README.md). It learns
// of every group when that is committed and when it is flushed, and whoever is shown something asks it
// whether that is durable and true. The first broken promise ends the run (Fibers::fail).
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

// What an agent's turn says is made of pieces "<turn's attempt>:<number> ", numbered from 1.
std::string piece(const std::string& turn, int attempt, int number);

std::uint64_t fingerprint(const task::Event& event);

class Model {
 public:
  struct Event {
    std::uint64_t print = 0;
    task::EventBody body;
    task::State state = task::State::submitted;  // after it
    task::TaskHead before, head;                 // before and after its change
  };
  struct Task {
    std::vector<Event> log;
    std::int64_t durable = 0;     // events
    task::TaskHead durable_head;  // changes without an event count, too
    bool waited_at_kill = false;  // its turn, for children
    bool asked_at_kill = false;   // its caller
    bool gone = false;            // removed, and that is committed; its log is what it had
    bool erased = false;          // by an operator, webhooks that waited and all
    const task::TaskHead& head() const { return log.back().head; }
    task::State durable_state() const { return log[static_cast<std::size_t>(durable) - 1].state; }
  };

  // The store's: a change was applied to the open group; the group is gone; it is committed; what was
  // committed is durable; power was lost.
  void applied(const store::Committed& committed, bool reopens);
  // A task was removed in the open group. `delivers`: a webhook of it waited.
  void removed(task::TaskKey task, bool erases, bool delivers);
  void rolled_back();
  void committed();
  void flushed();
  void lose_unflushed();
  // The program was killed.
  void note_kill();
  // The task's caller cancels it.
  void note_cancel(task::TaskKey task) { canceled_.insert(task.value); }
  // Nodes' clocks may be so far ahead.
  void set_clocks_ahead(Time time) { clocks_ahead_ = time; }
  // An operator has its turn run again.
  void note_requeue(task::TaskKey task) { requeued_.insert(task.value); }
  bool was_requeued(task::TaskKey task) const { return requeued_.contains(task.value); }
  bool was_canceled(task::TaskKey task) const { return canceled_.contains(task.value); }

  // An event that somebody was shown: must be durable, and what the log has. `last`: the number that this
  // reader was shown before; the next one must follow.
  void shown(task::TaskKey task, const task::Event& event, std::int64_t last) const;
  // What the log says the turn that begins now was delegated and asked for: the child, by the agent's name
  // for it, but for detached ones. No child: it could not be made.
  std::map<std::string, task::TaskKey> delegated(task::TaskKey parent) const;
  // Whether this child had not stopped, as the log says, when the turn began.
  bool is_awaited(task::TaskKey parent, const std::string& call) const;
  // The task's events up to this one must be durable.
  void acknowledged(task::TaskKey task, task::EventNumber last, const char* what) const;
  // The last event that anybody was told of: who asks now is shown no less.
  std::int64_t told_of(task::TaskKey task) const { return told_[task.value]; }
  // What the task's status was just after this event, which must be durable.
  task::State state_at(task::TaskKey task, task::EventNumber event) const;

  // Also of one that is gone.
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
  std::map<std::string, task::TaskKey> keys_;  // by id; ids of callers' own are unique here
  std::vector<std::variant<Applied, Removed>> group_;
  std::set<std::int64_t> canceled_;  // by their callers
  std::set<std::int64_t> requeued_;
  Time clocks_ahead_{};                                // at most
  mutable std::map<std::int64_t, std::int64_t> told_;  // by task: the last event that anybody was told of
  std::set<std::int64_t> unflushed_;                   // tasks with events that are not durable
  std::set<std::int64_t> gone_unflushed_;
};

// The log of a task, for whoever looks into a violation.
std::string told(const Model::Task& task);

}  // namespace baton::simulation
