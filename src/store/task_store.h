// TaskStore: keeps each task and the ordered log of its events. DeliveryStore keeps pending webhook calls.
// Both are one database: a delivery is written in the same group as its event.
//
// Writes are synchronous. One thread applies changes one after the other; `commit` makes all changes since
// the last commit, the group, visible to reads at once. `flush` then makes the group durable. A refused
// change leaves no trace and does not affect its group; if it is the first one, no group begins. After
// `unavailable` (the disk) or `internal` (this write) the open group is lost: its writer must apply it again
// or refuse its changes. A store that does not know whether a commit has happened finds out before `commit`
// returns.
// Threads: `apply`, `entitle`, `record` and `commit` on one thread; `flush` on one thread, which may be
// another; reads on any. All functions except `apply`, `entitle` and `record` may block on the disk. Reads
// see committed data, even if it is not flushed yet.
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

// One run of a program that shares a store with others. 0 in a store that is not shared.
using NodeId = base::Number<struct NodeIdTag>;
using DeliveryKey = base::Number<struct DeliveryKeyTag>;
using PushConfigKey = base::Number<struct PushConfigKeyTag>;

// The original of a repeated send.
struct EarlierSend {
  task::TaskKey task;
  task::EventNumber before;  // the last event before the send's own events
};

// One page of a list.
struct ListPage {
  std::vector<task::TaskHead> heads;
  std::int64_t total = 0;  // tasks on all pages
};

// The writer's data about a task between two changes. `apply` brings it up to date.
struct TaskRow {
  task::TaskHead head;
  // The node that has the task's queued, running or waiting turn, and will continue it; 0 if there is no
  // turn. A change that gives the turn another number, attempt or state makes the changing node the owner.
  NodeId owner;
  // May be incomplete: compare the size with the head's artifact_count.
  task::ArtifactPlaces artifacts;
  struct Config {
    PushConfigKey key;
    task::PushConfigId id;
    task::ProtocolVersion version;
  };
  std::optional<std::vector<Config>> configs;  // absent: not read yet
  // Messages that wait for the running turn to end, oldest first. Their number is the head's
  // waiting_messages.
  std::vector<task::EventNumber> waiting;
  // Used by stores in databases: see sql/log_rows.h and sql/context_rows.h.
  bool indexed = false, alone = false;
  std::int64_t joins_seen = 0;   // WriteState::joins when `alone` was last checked; 0: never
  bool may_have_history = true;  // a client's history may be stored with one of its messages
};

// A change as stored: the head after it and its events with their numbers.
struct Committed {
  task::TaskHead head;
  std::vector<task::EventPtr> events;
  int deliveries = 0;        // the number of webhook deliveries that were written with it
  bool new_context = false;  // the context was created for this task
  NodeId owner_before;       // the owner of the turn before the change
  NodeId owner;              // the owner of the turn after it
};

// A turn's input as stored.
struct TurnInput {
  task::Json task_metadata;
  task::Message message;
  task::RequestData request;
};

// The messages of a context, for an agent.
struct ContextRecord {
  std::vector<task::Message> said;    // oldest first
  std::vector<std::string> call_ids;  // of tool calls and questions; unordered, possibly with duplicates
};

// The first message of a conversation, and the title that its caller gave it.
struct Opening {
  std::string title;                     // empty if none was given
  base::Timestamp at{};                  // of the message
  std::optional<task::Message> message;  // the caller's first message that still exists
};

// A status that stopped a task: it ended, or began to wait for its caller.
struct Stop {
  task::State state = task::State::completed;
  task::EventNumber number;
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;

  // Adds a change to the open group. `row` must be the task's row from the last `apply` or `row`, or an empty
  // one for a new task. If the change is refused, `row` stays unchanged; if the group fails, `row` becomes
  // invalid. Fails with: already_exists (the new task's id is taken, or the send is a repetition), conflict,
  // task_not_found (the parent), invalid_argument (an illegal transition), too_large. Failures with
  // unavailable, internal and raced end the group.
  virtual base::Result<Committed> apply(task::Change& change, TaskRow& row) = 0;
  // Adds the caller's title for the context to the open group, as `apply` adds a change. An empty title
  // removes it. Fails with not_found if the context is empty. The title is deleted with the context's last
  // task.
  virtual base::Result<void> entitle(const task::ContextRef& context, const std::string& title) = 0;
  // Commits the group. Writes to the disk even if the group is empty, to find out whether a failed store is
  // writable again. Fails with unavailable, internal and raced.
  virtual base::Result<void> commit() = 0;
  // Returns once everything committed before the call is durable. After a failure it is unknown what is
  // durable.
  virtual base::Result<void> flush() = 0;

  virtual base::Result<TaskRow> row(task::TaskKey key) const = 0;
  // Fails with task_not_found if the caller has no such task at this agent. Finds hidden tasks too.
  virtual base::Result<task::TaskHead> find(const task::TaskRef& ref) const = 0;
  // Reads the current task, or the task just after event `as_of`. Fails with too_large if its log has more
  // than depth.bytes_max.
  virtual base::Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                                        std::optional<task::EventNumber> as_of = {}) const = 0;
  // At most `limit` events with numbers above `after`, in order; fewer if they are large. Empty if there are
  // none.
  virtual base::Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                                        int limit) const = 0;
  // The input of a turn: the message at this event and the request data that came with it.
  virtual base::Result<TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const = 0;
  // At most `limit` of the newest messages and streamed replies of all tasks in a context, and its call ids.
  // Omits the caller's messages to `task` from event `unanswered` on, because they are a turn's input or wait
  // for a turn; the agent's replies since then are included.
  virtual base::Result<ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                              task::EventNumber unanswered, int limit) const = 0;
  // The opening of a context; empty if the context is empty.
  virtual base::Result<Opening> opening(const task::ContextRef& context) const = 0;
  // The first stop after event `number`.
  virtual base::Result<std::optional<Stop>> stop_after(task::TaskKey key, task::EventNumber number) const = 0;
  // The number of the last stop before event `number`, or 0.
  virtual base::Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const = 0;
  // The earlier send with this digest, or not_found if the store remembers none.
  virtual base::Result<EarlierSend> earlier_send(const task::SendDigest& digest) const = 0;

  // One caller's visible tasks at one agent, newest status first.
  virtual base::Result<ListPage> list(const task::ListFilter& filter) const = 0;
  // `unfinished`: tasks whose turn is this node's. `children`: child tasks of `key` that have not ended.
  // `orphans`: child tasks that have not ended although their parents have. Detached tasks are neither
  // children nor orphans. The turns of children and orphans may be other nodes'.
  enum class Open { unfinished, children, orphans };
  // Returns at most `limit` of these tasks, oldest first. For `unfinished` and `orphans`, only those with a
  // key above `key`.
  virtual base::Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key,
                                                               int limit) const = 0;
};

// One webhook call to make: an event and the config to send it to.
struct Delivery {
  DeliveryKey key;
  task::TaskKey task;
  PushConfigKey config_key;
  task::EventNumber event;
  task::PushConfig config;
  int attempts = 0;              // made until now
  base::Timestamp created_at{};  // when the event was stored
  base::Timestamp due{};
  // RequestData::trace of the last message that has one, up to the event or right after it, because a message
  // follows the status that it causes. Empty if there is none.
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

  // Returns at most `limit` due deliveries, by due time. Only the oldest pending event of each config is
  // returned, so that events are sent in order for each task and config. If more than `limit` are due,
  // callers share the places; a caller counts once, with all its tenants.
  virtual base::Result<std::vector<Delivery>> due_deliveries(base::Timestamp now, int limit) const = 0;
  // Returns when the next delivery is due; nullopt if none is pending.
  virtual base::Result<std::optional<base::Timestamp>> next_due() const = 0;
  // Adds a result to the open group, as TaskStore::apply adds a change. A result for a deleted config is a
  // no-op and succeeds. Fails with not_found if the delivery was not its config's first pending one.
  virtual base::Result<void> record(const DeliveryResult& result) = 0;
  // Announces that results of these deliveries follow in the open group, so that a remote store can read them
  // with one round trip. Cheap.
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
