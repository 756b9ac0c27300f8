// TaskService: what callers can do with tasks. Every protocol's routes and every delegating agent come here.
//
// Each method takes the caller as part of its request; another caller's task is task_not_found everywhere.
// Threads: any. Methods that read the store may block on the disk; answers by callback come on the store's
// committing thread or a background thread and must not block.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "agents/catalogue.h"
#include "engine/background.h"
#include "engine/ledger.h"
#include "engine/options.h"
#include "engine/turns.h"

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
};

// One page of a caller's tasks, newest status first.
struct TaskList {
  std::vector<task::Task> tasks;
  std::int64_t total = 0;                  // on all pages
  std::optional<task::ListPosition> next;  // after which the next page begins; nothing: this is the last
};

class TaskService {
 public:
  TaskService(store::TaskStore& store, Ledger& ledger, Feed& feed, Turns& turns,
              const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
              const EngineOptions& options);

  // Stores the message and queues its turn. A message that this caller sent this agent before, with the same
  // id and content, within EngineOptions::send_retention, stores nothing: its task comes back (DESIGN,
  // promise 6). A message without an id is never a repetition. Fails with: invalid_argument, too_large,
  // task_not_found, unsupported (the task has ended), content_type_not_supported, push_not_supported,
  // overloaded, unavailable.
  void submit(task::Submission submission, std::function<void(base::Result<Accepted>)> done);
  // The same for an agent: the new task becomes a child of `parent`.
  void submit_child(task::TaskKey parent, task::Submission submission,
                    std::function<void(base::Result<Accepted>)> done);

  // Answers once the task has stopped (ended, or waits for its caller) after event `after`, or when `bound`
  // has passed, or the program drains: then with nothing. The first form is for whoever has just been told
  // `accepted` by submit, and sees stops that came before the call too.
  void wait(const Accepted& accepted, std::chrono::milliseconds bound,
            std::function<void(std::optional<Stop>)> done);
  void wait(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound,
            std::function<void(std::optional<Stop>)> done);

  base::Result<store::TaskHead> find(const task::TaskRef& ref) const { return store_.head(ref); }
  // As it is now, or as it was just after `as_of`.
  base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                std::optional<task::EventNumber> as_of = {}) const {
    return store_.read(key, depth, as_of);
  }
  // At most `limit` events with numbers above `after`, in order.
  base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after, int limit) const {
    return store_.events(key, after, limit);
  }

  // A page holds at most filter.limit tasks and about 16 MiB. `depth` says how much of each task.
  base::Result<TaskList> list(const task::ListFilter& filter, const task::Depth& depth) const;

  // Answers when the task has ended: as canceled, or with not_cancelable if it ended in another way.
  void cancel(const task::TaskRef& ref, std::function<void(base::Result<task::TaskKey>)> done);
  void cancel(task::TaskKey key, std::function<void(base::Result<task::TaskKey>)> done);

  // Cancels the open children of a task that has ended, and waits for none of them.
  void cancel_children(task::TaskKey parent);

  void set_push(const task::TaskRef& ref, task::PushConfig config,
                std::function<void(base::Result<task::PushConfig>)> done);
  // The config of this id, or with an empty id the first. not_found if there is none.
  base::Result<task::PushConfig> push_config(const task::TaskRef& ref, const task::PushConfigId& id) const;
  // In order of creation.
  base::Result<std::vector<task::PushConfig>> push_configs(const task::TaskRef& ref) const;
  // A config that is not there is a success.
  void delete_push(const task::TaskRef& ref, const task::PushConfigId& id,
                   std::function<void(base::Result<void>)> done);

  // Ends all waits: the program drains.
  void release_waits();

 private:
  struct Pending;
  struct Wait;
  struct Decision {
    store::Change change;
    bool queues_turn = false;
  };
  using PendingPtr = std::shared_ptr<Pending>;
  using WaitPtr = std::shared_ptr<Wait>;  // owned by waits_, held by whoever is ending it

  base::Result<void> check(const task::Submission& submission) const;
  void attempt(const PendingPtr& pending);
  base::Result<Decision> decide(Pending& pending);
  Decision create(const Pending& pending) const;
  base::Result<Decision> go_on(const Pending& pending, const store::TaskHead& head) const;
  void stored(const PendingPtr& pending, bool queues_turn, base::Result<Ledger::Written> result);
  void cancel_head(const store::TaskHead& head, int tries,
                   std::function<void(base::Result<task::TaskKey>)> done);
  void await_cancel(task::TaskKey key, task::EventNumber after,
                    std::function<void(base::Result<task::TaskKey>)> done);
  void cancel_stored(const store::TaskHead& before, Ledger::Written written,
                     std::function<void(base::Result<task::TaskKey>)> done);
  WaitPtr begin_wait(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound,
                     std::function<void(std::optional<Stop>)> done);
  void end_wait(const WaitPtr& wait, std::optional<Stop> stop);

  store::TaskStore& store_;
  Ledger& ledger_;
  Feed& feed_;
  Turns& turns_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
  base::Guarded<std::unordered_map<Wait*, std::shared_ptr<Wait>>> waits_;
};

}  // namespace baton::engine
