// TaskStore: keeps each task and the ordered log of its events. DeliveryStore keeps pending webhook calls.
// Both are one database: a delivery is written in the same group as its event.
//
// Writing is plain and synchronous. One thread applies changes one after the other; `commit` makes all since
// the last one, the group, visible to reads at once. `flush` then makes it durable. A refused change leaves
// no trace and does not disturb its group; one that is refused alone begins none. After `unavailable` (the
// disk) or `internal` (this write) nothing of the open group is left: its writer has to apply it again or to
// refuse it. A store that cannot tell whether a commit has happened finds out before `commit` returns.
// Threads: `apply`, `entitle`, `record` and `commit` on one thread; `flush` on one thread, which may be
// another; reads on any. Everything but `apply`, `entitle` and `record` may block on the disk. Reads see what
// was committed, which may not be flushed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "task/apply.h"
#include "task/change.h"
#include "task/event.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/task.h"

namespace baton::store {

// A program that shares a store with others, during one life of it. None: of a store that is not shared.
using NodeId = base::Number<struct NodeIdTag>;
using DeliveryKey = base::Number<struct DeliveryKeyTag>;
using PushConfigKey = base::Number<struct PushConfigKeyTag>;

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

// What the writer keeps of a task between two changes. `apply` brings it up to date.
struct TaskRow {
  task::TaskHead head;
  base::Timestamp created{};
  // Who has queued, runs or has its turn wait, and goes on with it; none without a turn. A change that gives
  // the turn another number, attempt or state makes it its node's.
  NodeId owner;
  // Possibly not all: compare with the head's artifact_count.
  task::ArtifactPlaces artifacts;
  struct Config {
    PushConfigKey key;
    task::PushConfigId id;
    task::ProtocolVersion version;
  };
  std::optional<std::vector<Config>> configs;  // absent: not read yet
  // Messages that wait for the running turn to end, oldest first; as many as the head's waiting_messages.
  std::vector<task::EventNumber> waiting;
  // The SQLite store's: see log_rows.h and context_rows.h.
  bool indexed = false, alone = false;
  std::int64_t joins_seen = 0;   // WriteState::joins when `alone` was last found true; 0: not looked
  bool may_have_history = true;  // a client's history may be stored with one of its messages
};

// A change as stored: the head after it and its events with their numbers.
struct Committed {
  task::TaskHead head;
  std::vector<task::EventPtr> events;
  int deliveries = 0;        // how many webhook deliveries were written with it
  bool new_context = false;  // the context was created for this task
  NodeId owner_before;       // whose turn it was before the change
  NodeId owner;              // and is after it
};

// A turn's input as stored.
struct TurnInput {
  task::Json task_metadata;
  task::Message message;
  task::RequestData request;
};

// What was said in a context, for an agent.
struct ContextRecord {
  std::vector<task::Message> said;    // oldest first
  std::vector<std::string> call_ids;  // of tool calls and questions; unordered, possibly with duplicates
};

// How a conversation began, and what its caller calls it.
struct Opening {
  std::string title;                     // empty: none was given
  base::Timestamp at{};                  // of the message
  std::optional<task::Message> message;  // the first of the caller's that is still there
};

// The status with which a task stopped: ended, or waiting for its caller.
struct Stop {
  task::State state = task::State::completed;
  task::EventNumber number;
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;

  // Adds a change to the open group. `row`: the task's, as the last `apply` or `row` left it; for a new task
  // an empty one. It stays as it is if the change is refused; once the group has ended it is worthless. Fails
  // with: already_exists (the new task's id is taken, or the send is a repetition), conflict, task_not_found
  // (the parent), invalid_argument (an illegal transition), too_large; unavailable, internal and raced end
  // the group.
  virtual base::Result<Committed> apply(task::Change& change, TaskRow& row) = 0;
  // Adds to the open group, as `apply` does a change, what the caller calls the context; empty: nothing any
  // more. Fails with not_found if nothing is in the context. The title goes with the last task.
  virtual base::Result<void> entitle(const task::ContextRef& context, const std::string& title) = 0;
  // Ends the group; writes to the disk even if it is empty, which tells whether a failed store is writable
  // again. Fails with unavailable, internal and raced.
  virtual base::Result<void> commit() = 0;
  // Returns once everything committed before the call is durable. After a failure nobody knows what is.
  virtual base::Result<void> flush() = 0;

  virtual base::Result<TaskRow> row(task::TaskKey key) const = 0;
  // task_not_found if the caller has no such task at this agent. Finds hidden ones too.
  virtual base::Result<task::TaskHead> find(const task::TaskRef& ref) const = 0;
  // The task as it is now, or just after event `as_of`. Fails with too_large past depth.bytes_max.
  virtual base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                        std::optional<task::EventNumber> as_of = {}) const = 0;
  // At most `limit` events with numbers above `after`, in order; fewer if they are large. Empty if there are
  // none.
  virtual base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                        int limit) const = 0;
  // The input of a turn: the message at this event and the request data that came with it.
  virtual base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const = 0;
  // At most `limit` of the newest messages and streamed replies of all tasks in a context, and its call ids.
  // Omits the caller's messages to `task` from event `unanswered` on, which are a turn's input or wait for a
  // turn; the agent's replies since then are included.
  virtual base::Result<ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                              task::EventNumber unanswered, int limit) const = 0;
  // Of a context; empty if nothing is in it.
  virtual base::Result<Opening> opening(const task::ContextRef& context) const = 0;
  // The first stop after event `number`.
  virtual base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const = 0;
  // The number of the last stop before event `number`, or 0.
  virtual base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const = 0;
  // The earlier send with this digest, or not_found if the store remembers none.
  virtual base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const = 0;

  // One caller's visible tasks at one agent, newest status first.
  virtual base::Result<ListPage> list(const task::ListFilter& filter) const = 0;
  // `unfinished`: tasks with a turn that is this node's. `children`: those of `key` that have not ended.
  // Detached children are neither `children` nor `orphans`, which are delegated tasks that have not ended, of
  // parents that have. Both may have turns that are other nodes'.
  enum class Open { unfinished, children, orphans };
  // At most `limit` of them; the unfinished ones and orphans with a key above `key`. Oldest first.
  virtual base::Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key,
                                                               int limit) const = 0;
};

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
  // RequestData::trace of the last message that has one, up to the event or right after it, as a message
  // comes after the status that takes it up. Empty: none has.
  std::string trace = {};
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
  // Adds a result to the open group, as TaskStore::apply does a change. A result for a deleted config is a
  // no-op and succeeds. Fails with not_found if the delivery was not its config's first waiting one.
  virtual base::Result<void> record(const DeliveryResult& result) = 0;
  // The results of these follow in the open group: a store that is far away reads them all at once. Cheap.
  virtual void expect(const std::vector<DeliveryKey>&) {}
  // A task's configs in the order of their creation, each with its last error.
  virtual base::Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const = 0;
  // For metrics.
  struct Counts {
    std::int64_t waiting = 0;  // neither delivered nor given up
    std::int64_t given_up = 0;
  };
  virtual base::Result<Counts> delivery_counts() const = 0;
};

}  // namespace baton::store
