// TaskStore keeps each task and the ordered log of its events; DeliveryStore keeps what must be sent to
// webhooks. Both are one database: a delivery is written in the commit of the event it tells about.
//
// Writing: `commit` hands over a Change. Changes are applied in the order they are handed over, many in one
// transaction; the callback runs on the store's flushing thread once the change is on disk (or was
// refused), must not block and must not wait for another commit. A refused change leaves no trace and does
// not disturb the others in its transaction. Durability: once a callback has a result, no crash loses it.
// Who has work to do that is no answer to anybody need not wait for the disk: see `EarlyCallback`.
// Unknown outcome: `unavailable` may mean that the write happened. Read before trying again.
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

// The send a repeated one is the repetition of.
struct EarlierSend {
  task::TaskKey task;
  task::EventNumber before;  // the log position its own events follow
};

// One page of a list, and how many tasks there are on all pages.
struct ListPage {
  std::vector<task::TaskHead> heads;
  std::int64_t total = 0;
};

// A change as stored: the head after it and its events with their numbers.
struct Committed {
  task::TaskHead head;
  std::vector<task::EventPtr> events;
  int deliveries = 0;        // how many webhook deliveries were written with it
  bool new_context = false;  // the context was made for the task
};

using CommitCallback = std::function<void(base::Result<Committed>)>;
// Hears of a change that was not refused before its CommitCallback, on the store's committing thread: it is
// committed, and only a disk that cannot be flushed or the system's own end (its power fails) can lose it,
// together with all that is committed after it. For what leads to further changes; it may not be shown or
// acknowledged.
using EarlyCallback = std::function<void(const Committed&)>;

// A turn's input as stored.
struct TurnInput {
  task::Json task_metadata;  // the task's own
  task::Message message;
  task::TurnRequest request;
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;

  // Fails with: already_exists (the new task's id is taken), conflict, task_not_found, invalid_argument (an
  // illegal move), too_large, unavailable (the disk).
  virtual void commit(task::Change change, CommitCallback done, EarlyCallback early) = 0;
  void commit(task::Change change, CommitCallback done) {
    commit(std::move(change), std::move(done), nullptr);
  }

  // task_not_found if the caller has no such task at this agent, or it is hidden.
  virtual base::Result<task::TaskHead> head(const task::TaskRef& ref) const = 0;
  virtual base::Result<task::TaskHead> head(task::TaskKey key) const = 0;

  // The task as it is now, or as it was just after event `as_of`. Fails with too_large past depth.bytes_max.
  virtual base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                        std::optional<task::EventNumber> as_of = {}) const = 0;

  // The same as head and read, in one step.
  virtual base::Result<task::Task> read(const task::TaskRef& ref, const task::Depth& depth) const = 0;

  // At most `limit` events with numbers above `after`, in order; fewer where they are large. None: there are
  // none.
  virtual base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                        int limit) const = 0;

  // Calls `then` once a change to this task that is on its way to the disk has come to its end, refused or
  // told of, on the flushing thread; it must not block. Asked in a change's own callback, that is this
  // change. False: there is none, and nothing is called. For those who would rather tell what it brings
  // together with what they have.
  virtual bool after_change(task::TaskKey key, std::function<void()> then) = 0;

  // What a turn is about: the message at this event and what came with it.
  virtual base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const = 0;
  // The first user message after `after` that no turn was given, or not_found.
  virtual base::Result<task::EventNumber> next_message(task::TaskKey key, task::EventNumber after) const = 0;

  // What has been said in a context, oldest first: messages and streamed replies of all its tasks, at most
  // `limit` of the newest. Of `task`, the caller's messages from event `unanswered` on are left out: they are
  // what a turn is about, or wait for one; what the agent said since then is not.
  virtual base::Result<std::vector<task::Message>> conversation(task::ContextKey context, task::TaskKey task,
                                                                task::EventNumber unanswered,
                                                                int limit) const = 0;

  // Tasks whose turn is queued or running, oldest first, at most `limit` with a key above `after`.
  virtual base::Result<std::vector<task::TaskHead>> unfinished(task::TaskKey after, int limit) const = 0;
  // Tasks delegated by this one that have not ended.
  virtual base::Result<std::vector<task::TaskHead>> open_children(task::TaskKey parent) const = 0;
  // Delegated tasks that have not ended though their parent has.
  virtual base::Result<std::vector<task::TaskHead>> orphans() const = 0;

  // The earlier send of this digest, if the store remembers one, or not_found.
  virtual base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const = 0;
  // The first status after `after` with which the task stops (task::is_stopped), or not_found.
  virtual base::Result<task::Event> first_stop(task::TaskKey key, task::EventNumber after) const = 0;
  // The number of the last one before `before`, or 0.
  virtual base::Result<task::EventNumber> last_stop(task::TaskKey key, task::EventNumber before) const = 0;

  // The ids of all tool calls and questions in a context, in no order and some perhaps twice.
  virtual base::Result<std::vector<std::string>> call_ids(task::ContextKey context) const = 0;

  // The tasks of one caller at one agent that are not hidden, newest status first.
  virtual base::Result<ListPage> list(const task::ListFilter& filter) const = 0;

  // Replaces the config of the same id. Fails with too_large past `configs_max` for a task.
  virtual void set_push(task::TaskKey key, task::PushConfig config, int configs_max,
                        std::function<void(base::Result<task::PushConfig>)> done) = 0;
  // In order of creation, each with its last error.
  virtual base::Result<std::vector<task::PushConfig>> push_configs(task::TaskKey key) const = 0;
  // With all its deliveries. None of this id is a success.
  virtual void delete_push(task::TaskKey key, task::PushConfigId id,
                           std::function<void(base::Result<void>)> done) = 0;

  // Writes to the disk without changing anything: whether the store can be written again after it could not.
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

// What became of an attempt.
struct DeliveryResult {
  enum class Kind { delivered, retry, given_up };
  DeliveryKey key;
  Kind kind = Kind::delivered;
  base::Timestamp next_due{};  // for retry
  std::string error;           // for retry and given_up: shown to operators and to the task's caller
};

class DeliveryStore {
 public:
  virtual ~DeliveryStore() = default;

  // The first undelivered one of each (task, config) whose time has come, at most `limit`: by due time, and
  // where more are due, callers (each in all its tenants) share the places. A config with an undelivered
  // event shows no later one: order is kept for each task and config.
  virtual base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const = 0;
  // When the next delivery is due, or nothing if there is none.
  virtual base::Result<std::optional<base::Timestamp>> next_due() const = 0;
  // `done` runs on the flushing thread. Of a delivery that is gone, with its config, nothing is kept: a
  // success.
  virtual void record(DeliveryResult result, std::function<void(base::Result<void>)> done) = 0;
  // Undelivered and not given up; and given up. For metrics.
  struct Counts {
    std::int64_t waiting = 0;
    std::int64_t given_up = 0;
  };
  virtual base::Result<Counts> delivery_counts() const = 0;
};

}  // namespace baton::store
