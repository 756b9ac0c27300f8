// TaskStore: keeps each task and the ordered log of its events. DeliveryStore keeps pending webhook calls.
// Both are one database: a delivery is written in the same commit as its event.
//
// Writing: `commit` queues a Change. Changes are applied in queue order, many in one transaction. The
// callback runs on the store's flushing thread once the change is on disk or was refused; it must not block
// and must not wait for another commit. A refused change leaves no trace and does not disturb the others in
// its transaction. Durability: once a callback has a result, no crash loses it.
// Internal follow-up work need not wait for the disk: see `EarlyCallback`.
// Unknown outcome: after `unavailable` the write may have happened. Read before retrying.
// Threads: every method may be called from any thread. Reads may block on the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "task/change.h"
#include "task/event.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/task.h"

namespace baton::store {

// The original of a repeated send.
struct EarlierSend {
  task::TaskKey task;
  task::EventNumber before;  // the log position its own events follow
};

// One page of a list.
struct ListPage {
  std::vector<task::TaskHead> heads;
  std::int64_t total = 0;  // tasks on all pages
};

// A change as stored: the head after it and its events with their numbers.
struct Committed {
  task::TaskHead head;
  std::vector<task::EventPtr> events;
  int deliveries = 0;        // how many webhook deliveries were written with it
  bool new_context = false;  // the context was created for this task
};

using CommitCallback = std::function<void(base::Result<Committed>)>;
// Called for an accepted change before its CommitCallback, on the store's committing thread. The change is
// committed but may not be flushed: a failed flush, power loss or system crash can still lose it, along with
// everything committed after it. Use it to start further changes; do not show or acknowledge the result.
using EarlyCallback = std::function<void(const Committed&)>;

// A turn's input as stored.
struct TurnInput {
  task::Json task_metadata;
  task::Message message;
  task::TurnRequest request;
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;

  // Fails with: already_exists (the new task's id is taken, or the send is a repetition), conflict,
  // task_not_found, invalid_argument (an illegal transition), too_large, overloaded (the queue is full),
  // unavailable (the disk).
  virtual void commit(task::Change change, CommitCallback done, EarlyCallback early) = 0;
  void commit(task::Change change, CommitCallback done) {
    commit(std::move(change), std::move(done), nullptr);
  }

  // task_not_found if the caller has no such task at this agent, or it is hidden.
  virtual base::Result<task::TaskHead> head(const task::TaskRef& ref) const = 0;
  virtual base::Result<task::TaskHead> head(task::TaskKey key) const = 0;

  // The task as it is now, or just after event `as_of`. Fails with too_large past depth.bytes_max.
  virtual base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                        std::optional<task::EventNumber> as_of = {}) const = 0;

  // Finds and reads the task in one step; fails as head and read do.
  virtual base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const = 0;

  // At most `limit` events with numbers above `after`, in order; fewer if they are large. Empty if there are
  // none.
  virtual base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                        int limit) const = 0;

  // Calls `then` on the flushing thread when the next pending change to this task has finished, stored or
  // refused; `then` must not block. Inside a change's own callback, that change still counts as pending.
  // Returns false, and never calls `then`, if no change is pending. Lets a reader send imminent events
  // together with those it has.
  virtual bool after_change(task::TaskKey key, std::function<void()> then) = 0;

  // The input of a turn: the message at this event and the request data that came with it.
  virtual base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const = 0;
  // The first user message after `after` that has had no turn, or not_found.
  virtual base::Result<task::EventNumber> next_message(task::TaskKey key, task::EventNumber after) const = 0;

  // At most `limit` of the newest messages and streamed replies of all tasks in a context, oldest first.
  // Omits the caller's messages to `task` from event `unanswered` on, which are a turn's input or wait for a
  // turn; the agent's replies since then are included.
  virtual base::Result<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey task,
                                                                task::EventNumber unanswered,
                                                                int limit) const = 0;

  // At most `limit` tasks with a queued or running turn and a key above `after`, oldest first.
  virtual base::Result<std::vector<task::TaskHead>> unfinished(task::TaskKey after, int limit) const = 0;
  // Unfinished tasks that this one delegated.
  virtual base::Result<std::vector<task::TaskHead>> open_children(task::TaskKey parent) const = 0;
  // Unfinished delegated tasks whose parent has ended.
  virtual base::Result<std::vector<task::TaskHead>> orphans() const = 0;

  // The earlier send with this digest, or not_found if the store remembers none.
  virtual base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const = 0;
  // The first status after `after` at which the task stops (task::is_stopped), or not_found.
  virtual base::Result<task::Event> first_stop(task::TaskKey key, task::EventNumber after) const = 0;
  // The number of the last such status before `before`, or 0.
  virtual base::Result<task::EventNumber> last_stop(task::TaskKey key, task::EventNumber before) const = 0;

  // The ids of all tool calls and questions in a context, unordered, possibly with duplicates.
  virtual base::Result<std::vector<std::string>> call_ids(task::ContextKey context) const = 0;

  // One caller's visible tasks at one agent, newest status first.
  virtual base::Result<ListPage> list(const task::ListFilter& filter) const = 0;

  // Adds a config or replaces the one with the same id. Fails with too_large past `configs_max` per task.
  virtual void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                        std::function<void(base::Result<task::PushConfig>)> done) = 0;
  // In creation order, each with its last error.
  virtual base::Result<std::vector<task::PushConfig>> push_configs(task::TaskKey key) const = 0;
  // Also deletes the config's deliveries. Deleting an unknown id succeeds.
  virtual void delete_push(task::TaskKey key, task::PushConfigId id,
                           std::function<void(base::Result<void>)> done) = 0;

  // Writes to the disk without changing anything: tells whether a failed store is writable again.
  virtual void probe(std::function<void(base::Result<void>)> done) = 0;
};

using DeliveryKey = base::Number<struct DeliveryKeyTag>;
using PushConfigKey = base::Number<struct PushConfigKeyTag>;

// One webhook to be sent: this event, to this config.
struct Delivery {
  DeliveryKey key;
  task::TaskKey task;
  PushConfigKey config_key;
  task::EventNumber event;
  task::PushConfig config;
  int attempts = 0;              // made so far
  base::Timestamp created_at{};  // when the event was stored
  base::Timestamp due{};
};

// The outcome of one delivery attempt.
struct DeliveryResult {
  enum class Kind { delivered, retry, given_up };
  DeliveryKey key;
  Kind kind = Kind::delivered;
  base::Timestamp next_due{};  // for retry
  std::string error;           // for retry and given_up; shown to operators and the task's caller
};

class DeliveryStore {
 public:
  virtual ~DeliveryStore() = default;

  // At most `limit` due deliveries, by due time. Only the oldest waiting event of each config is returned, so
  // that events are sent in order for each task and config. If more than `limit` are due, callers share the
  // places; a caller counts once, whatever its tenants.
  virtual base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const = 0;
  // When the next delivery is due; empty if none is waiting.
  virtual base::Result<std::optional<base::Timestamp>> next_due() const = 0;
  // Records a result; `done` runs on the flushing thread. A result for a deleted config is a no-op and
  // succeeds. Fails with not_found if the delivery was not its config's first waiting one.
  virtual void record(DeliveryResult result, std::function<void(base::Result<void>)> done) = 0;
  // For metrics.
  struct Counts {
    std::int64_t waiting = 0;  // neither delivered nor given up
    std::int64_t given_up = 0;
  };
  virtual base::Result<Counts> delivery_counts() const = 0;
};

}  // namespace baton::store
