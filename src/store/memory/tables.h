// Tables: the committed data of a MemoryStore. Only entries change it, in order, so the same entries produce
// the same tables.
//
// Threads: guarded by their owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "store/memory/delivery_table.h"
#include "store/memory/operator_table.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::store::memory {

// An applied change.
struct Step {
  task::TaskHead head;  // after the change
  base::Timestamp at{};
  std::optional<task::Json> metadata;  // of a new task
  std::vector<task::EventPtr> events;
  std::optional<task::RequestData> request;
  task::EventNumber message;  // the event that `request` belongs to
  std::optional<task::SendDigest> send;
  std::optional<task::PushConfig> push;
  PushConfigKey push_key, dropped;
  std::vector<std::pair<PushConfigKey, task::EventNumber>> deliveries;
  std::optional<task::DeliveryOrder> order;
  std::optional<task::AuditEntry> audit;
  std::string schedule;  // of a new task
};
// An accepted delivery result.
struct Recorded {
  DeliveryResult result;
  base::Timestamp at{};
};
// Removed tasks.
struct Gone {
  std::vector<task::TaskKey> tasks;
};
// A caller's title for a context; an empty title removes it.
struct Title {
  task::ContextRef context;
  std::string title;
};
// An accepted write of OperatorStore.
struct OperatorEntry {
  OperatorWrite write;
  base::Timestamp at{};
};
using Entry = std::variant<Step, Recorded, Gone, Title, OperatorEntry>;

// Applies the step to webhook configs and deliveries.
void follow(const Step& step, DeliveryTable& deliveries);

struct MemoryTask {
  task::TaskHead head;
  task::Json metadata;
  std::vector<task::EventPtr> log;  // event n is at n - 1
  std::map<task::EventNumber, task::RequestData> requests;
  std::vector<TaskRow::Config> configs;  // in the order of their creation
  std::string schedule;
};

class Tables {
 public:
  using ContextName = std::tuple<task::AgentName, task::Caller, task::ContextId>;

  explicit Tables(base::Duration send_retention) : send_retention_(send_retention) {}

  void apply(const Entry& entry) {
    std::visit([this](const auto& one) { apply(one); }, entry);
  }

  // Return null if there is no such task.
  const MemoryTask* task(task::TaskKey key) const;
  const MemoryTask* task(const task::TaskRef& ref) const;
  // Returns 0 if there is no such context.
  task::ContextKey context(const ContextName& name) const;
  // Returns the events of all tasks of the context, ordered by time.
  std::vector<std::pair<task::TaskKey, task::EventPtr>> events_in(task::ContextKey context) const;
  // Returns the send with this digest if it is still remembered at `now`.
  std::optional<EarlierSend> send(const task::SendDigest& digest, base::Timestamp now) const;

  // As documented in TaskStore.
  ListPage list(const task::ListFilter& filter) const;
  Opening opening(const task::ContextRef& context) const;
  std::vector<task::TaskHead> open_tasks(TaskStore::Open which, task::TaskKey key, int limit) const;
  // As documented in RetentionStore.
  std::vector<task::TaskHead> all_tasks(task::TaskKey after, int limit) const;
  task::TaskKey last_made(base::Timestamp time) const;
  std::vector<TreeMember> tree(task::TaskKey root) const;
  std::vector<task::TaskHead> in_context(const task::ContextRef& context) const;
  bool has_children(task::TaskKey key, const std::set<task::TaskKey>& but) const;

  const DeliveryTable& deliveries() const { return deliveries_; }
  const OperatorTable& operators() const { return operators_; }
  // As documented in OperatorStore.
  TaskPage page(const TaskQuery& query) const;
  TaskCount count(const TaskFilter& filter) const;
  std::vector<OperatorStore::AgentCounts> counts_by_agent() const;
  TaskLine line(const MemoryTask& task) const;
  std::vector<CrashedTurn> crashed_turns() const;
  DeliveryPage deliveries(const DeliveryFilter& filter, std::int64_t before, int limit) const;
  std::optional<DeliveryLine> delivery(DeliveryKey key) const;

 private:
  // The agent, caller and state of a list's tasks; without a state the list has tasks in any state.
  using ListName = std::tuple<task::AgentName, task::Caller, std::optional<task::State>>;
  using List = std::set<std::tuple<base::Timestamp, task::TaskId, task::TaskKey>, std::greater<>>;
  using Half = std::pair<std::uint64_t, std::uint64_t>;
  struct Send {
    EarlierSend send;
    base::Timestamp at;
  };

  void apply(const Step& step);
  void apply(const Recorded& recorded) { deliveries_.record(recorded.result, recorded.at); }
  void apply(const Gone& gone);
  void apply(const Title& title);
  void apply(const OperatorEntry& entry);
  bool has_open_children(task::TaskKey key) const;
  void note_crashed();
  std::optional<TaskLine> line_if_passing(const TaskFilter& filter, const MemoryTask& task) const;
  DeliveryLine line_of(const DeliveryTable::Row& row) const;
  MemoryTask& create(const Step& step);
  void take_push(const Step& step, MemoryTask& task);
  void remember(const Step& step, task::EventNumber before);
  void move_in_lists(const task::TaskHead& before, const task::TaskHead& after);
  List list_of_context(const task::ListFilter& filter) const;

  base::Duration send_retention_;
  std::map<task::TaskKey, MemoryTask> tasks_;
  std::map<std::tuple<task::AgentName, task::Caller, task::TaskId>, task::TaskKey> ids_;
  std::map<ContextName, task::ContextKey> contexts_;
  std::map<ContextName, std::string> titles_;
  std::map<task::ContextKey, std::vector<task::TaskKey>> in_context_;
  std::map<task::TaskKey, std::vector<task::TaskKey>> children_;
  std::map<ListName, List> lists_;  // of tasks that are not hidden
  std::map<Half, Send> sends_;
  std::deque<std::pair<base::Timestamp, Half>> sends_by_age_;
  DeliveryTable deliveries_;
  OperatorTable operators_;
};

}  // namespace baton::store::memory
