// TaskService: what callers can do with tasks. Every protocol's routes and every delegating agent come here.
//
// Each method takes the caller as part of its request; another caller's task is task_not_found everywhere.
// Threads: any. Methods that read the store may block on the disk; answers by callback come on the store's
// flushing thread or a background thread and must not block.
#pragma once

#include <functional>
#include <memory>

#include "agents/catalogue.h"
#include "engine/cancels.h"
#include "engine/push_configs.h"
#include "engine/task_list.h"

namespace baton::engine {

// A submission as stored. `before` is the log position its own events follow: wait or read from there.
struct Accepted {
  task::TaskKey key;
  task::TaskId id;
  task::ContextId context;
  task::EventNumber before;
  task::EventNumber after;  // and the one they end at
  // The same send came before: nothing was stored, and the task may have stopped already.
  bool repeated = false;
  // Callers see no task so far: if it is completed so, its last message is the whole answer.
  bool hidden = false;
};

class TaskService {
 public:
  TaskService(store::TaskStore& store, Ledger& ledger, Feed& feed, Turns& turns,
              const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
              const EngineOptions& options);

  // Stores the message and queues its turn. A message that this caller sent this agent before, with the same
  // id and content (send_digest.h), stores nothing while the store remembers it: its task comes back (README,
  // promise 6). A message without an id is never a repetition. Fails with: invalid_argument, too_large,
  // task_not_found, unsupported (the task has ended), content_type_not_supported, push_not_supported,
  // overloaded, unavailable.
  using Submitted = std::function<void(base::Result<Accepted>)>;
  void submit(task::Submission submission, Submitted done);
  // The same for an agent: the new task becomes a child of `parent`. Its messages are never repetitions: a
  // turn that runs again has new children.
  void submit_child(task::TaskKey parent, task::Submission submission, Submitted done);

  // Answers once the task has stopped (ended, or waits for its caller) after event `after`, or when `bound`
  // has passed, or the program drains: then with nothing. A stop that was stored before the call is not seen,
  // except by the first form: it is for whoever has just been told `accepted`, in submit's callback.
  void wait(const Accepted& accepted, std::chrono::milliseconds bound, Waits::Done done);
  void wait(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound, Waits::Done done);

  base::Result<task::TaskHead> find(const task::TaskRef& ref) const { return store_.head(ref); }
  // As it is now, or as it was just after `as_of`.
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const {
    return store_.read(key, depth, as_of);
  }
  base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const {
    return store_.read(ref, depth);
  }
  // At most `limit` events with numbers above `after`, in order.
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after, int limit) const {
    return store_.events(key, after, limit);
  }

  // As store::TaskStore says.
  bool after_change(task::TaskKey key, std::function<void()> then) {
    return ledger_.after_change(key, std::move(then));
  }

  // The earlier submission of this name (task::Submission::name), or not_found.
  base::Result<Accepted> earlier(const task::Caller& caller, const task::AgentName& agent,
                                 const task::ContextId& context, const std::string& name) const;
  // Where the run that event `number` belongs to begins: the log position its first event follows. A run goes
  // from a message to the next stop.
  base::Result<task::EventNumber> run_begin(task::TaskKey key, task::EventNumber number) const {
    return store_.last_stop(key, number);
  }
  // The heads of a page of a list.
  base::Result<store::ListPage> heads(const task::ListFilter& filter) const { return store_.list(filter); }

  base::Result<TaskList> list(const task::ListFilter& filter, const task::Depth& depth) const {
    return list_tasks(store_, filter, depth);
  }
  // Answers when the task has ended: as canceled, or with not_cancelable if it ended in another way.
  void cancel(const task::TaskRef& ref, Cancels::Done done) { cancels_.cancel(ref, std::move(done)); }
  void cancel(task::TaskKey key, Cancels::Done done) { cancels_.cancel(key, std::move(done)); }
  // What becomes of the run that begins after `before` when its client has left.
  base::Result<task::Leaving> leaving(task::TaskKey key, task::EventNumber before) const;
  // Nobody may be there any more for the run that begins after `before`. If it is one that is canceled then
  // (Leaving::cancels), on a task that no A2A client made, it is canceled with a reason once the agent's
  // grace has passed, unless it has stopped or somebody follows the task by then (Feed::is_followed).
  void client_left(task::TaskKey key, const task::AgentName& agent, task::EventNumber before);
  // Of an ended task.
  void cancel_children(task::TaskKey parent) { cancels_.cancel_children(parent); }

  // A config without an id gets one.
  void set_push(const task::TaskRef& ref, task::PushConfig config, PushConfigs::Done done) {
    push_.set(ref, std::move(config), std::move(done));
  }
  // The config of this id, or with an empty id the first. not_found if there is none.
  base::Result<task::PushConfig> push_config(const task::TaskRef& ref, const task::PushConfigId& id) const {
    return push_.get(ref, id);
  }
  // In order of creation.
  base::Result<std::vector<task::PushConfig>> push_configs(const task::TaskRef& ref) const {
    return push_.list(ref);
  }
  // A config that is not there is a success.
  void delete_push(const task::TaskRef& ref, const task::PushConfigId& id, PushConfigs::Removed done) {
    push_.remove(ref, id, std::move(done));
  }

  // The program drains.
  void release_waits() { waits_.end_all(); }

 private:
  struct Pending;
  struct Decision {
    task::Change change;
    bool has_turn = false;  // the message does not wait for the end of another one's turn
  };
  using PendingPtr = std::shared_ptr<Pending>;

  base::Result<void> check(const task::Submission& submission) const;
  void attempt(const PendingPtr& pending);
  bool answer_repeated(const Pending& pending) const;
  base::Result<Decision> decide(const Pending& pending) const;
  base::Result<std::optional<task::TaskHead>> waiting_in_context(const task::Submission& submission) const;
  base::Result<Decision> create(const Pending& pending) const;
  base::Result<Decision> go_on(const Pending& pending, const task::TaskHead& head) const;
  void begin_turn(task::Change& change) const;
  bool may_begin_early(const task::Change& change) const;
  void begin_early(Pending& pending, const store::Committed& committed);
  void stored(const PendingPtr& pending, Scheduler::Room room, base::Result<Ledger::Written> result);
  bool is_abandoned(task::TaskKey key, task::EventNumber before) const;

  store::TaskStore& store_;
  Ledger& ledger_;
  Feed& feed_;
  Turns& turns_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
  PushConfigs push_;
  Waits waits_;
  Cancels cancels_;
};

}  // namespace baton::engine
