#include "store/memory/memory_store.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "store/event_codec.h"
#include "store/log_reads.h"
#include "store/memory/tables.h"
#include "store/task_filter.h"
#include "task/fold.h"

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;
using memory::MemoryTask;

namespace {

// The limits of the SQLite store: the size of a stored event, and the size of the events that one read
// returns (at least one event, and all of the event that reaches the limit).
constexpr std::size_t kBodyMax = 512u << 20;
constexpr std::size_t kPageBytesMax = 1 << 20;

tl::unexpected<base::Error> no_task() {
  return fail(ErrorCode::task_not_found, "task not found");
}

Result<std::size_t> stored_bytes(const std::vector<task::EventBody>& bodies) {
  std::size_t bytes = 0;
  for (const task::EventBody& body : bodies) {
    const std::size_t size = store::codec::encode(body).size();
    if (size > kBodyMax) return fail(ErrorCode::too_large, "too large to be stored");
    bytes += size;
  }
  return bytes;
}

TaskRow::Config* find_config(TaskRow& row, const task::PushConfigId& id) {
  const auto found = std::ranges::find(*row.configs, id, &TaskRow::Config::id);
  return found == row.configs->end() ? nullptr : &*found;
}

TaskRow new_row(const task::NewTask& task) {
  TaskRow row;
  row.head = task::new_head(task);
  row.configs.emplace();
  return row;
}

Result<void> check_room(TaskRow& row, const task::Change& change) {
  if (!change.push || find_config(row, change.push->id) != nullptr) return {};
  if (std::ssize(*row.configs) < change.push_configs_max) return {};
  return fail(ErrorCode::too_large,
              "a task can have " + base::counted(change.push_configs_max, "push notification config"));
}

std::vector<task::EventPtr> numbered(std::vector<task::EventBody>&& bodies, task::EventNumber before,
                                     base::Timestamp at) {
  std::vector<task::EventPtr> events;
  for (task::EventBody& body : bodies) {
    ++before.value;
    events.push_back(std::make_shared<const task::Event>(task::Event{before, at, std::move(body)}));
  }
  return events;
}

// Returns the deliveries of these events to the row's configs.
std::vector<std::pair<PushConfigKey, task::EventNumber>> deliveries_of(
    const TaskRow& row, const std::vector<task::EventPtr>& events) {
  std::vector<std::pair<PushConfigKey, task::EventNumber>> deliveries;
  if (row.head.hidden) return deliveries;
  for (const task::EventPtr& event : events) {
    for (const TaskRow::Config& config : *row.configs) {
      if (task::webhook_hears(config.version, event->body)) {
        deliveries.emplace_back(config.key, event->number);
      }
    }
  }
  return deliveries;
}

std::tuple<task::AgentName, task::Caller, task::TaskId> name_of(const task::NewTask& task) {
  return {task.agent, task.caller, task.id};
}

// Returns the events above `after`, up to and including `last`.
std::vector<task::EventPtr> part(const std::vector<task::EventPtr>& log, task::EventNumber after,
                                 task::EventNumber last) {
  const auto place = [&](task::EventNumber number) {
    return log.begin() + std::clamp<std::int64_t>(number.value, 0, std::ssize(log));
  };
  return {place(after), std::max(place(after), place(last))};
}

}  // namespace

MemoryStore::MemoryStore(const base::Clock& clock, const MemoryOptions& options)
    : clock_(clock), state_(std::in_place, State{memory::Tables(options.send_retention), {}, std::nullopt}) {
  if (options.keeps_flushed) {
    state_.with([&](State& state) { state.flushed.emplace(options.send_retention); });
  }
}

// Whether `in_group` is true for the open group or `in_tables` for the tables.
template <class InGroup, class InTables>
bool MemoryStore::has(InGroup&& in_group, InTables&& in_tables) const {
  return in_group(group_) || state_.with([&](const State& state) { return in_tables(state.tables); });
}

Result<void> MemoryStore::check(const task::Change& change, base::Timestamp at) const {
  // Checked first, because a send is a repetition no matter what has happened to the task since.
  if (change.send &&
      has([&](const Group& group) { return std::ranges::count(group.sends, *change.send) > 0; },
          [&](const auto& tables) { return tables.send(*change.send, at).has_value(); })) {
    return fail(ErrorCode::already_exists, "the message was already sent");
  }
  if (!change.create) return {};
  const task::NewTask& task = *change.create;
  if (has([&](const Group& group) { return group.ids.contains(name_of(task)); },
          [&](const auto& tables) {
            return tables.task({task.caller, task.agent, task.id}) != nullptr;
          })) {
    return fail(ErrorCode::already_exists, "the task id is already in use");
  }
  if (task.parent && !has([&](const Group& group) { return group.tasks.contains(task.parent); },
                          [&](const auto& tables) { return tables.task(task.parent) != nullptr; })) {
    return fail(ErrorCode::task_not_found, "parent task not found");
  }
  return {};
}

Result<Committed> MemoryStore::apply(task::Change& change, TaskRow& row) {
  if (auto subject = task::check_subject(change); !subject) return fail(subject.error());
  const bool is_there = row.head.key == change.task && !group_.gone.contains(change.task);
  if (!change.create && !is_there) return no_task();
  const base::Timestamp at = now();
  if (auto checked = check(change, at); !checked) return fail(checked.error());
  TaskRow fresh;
  if (change.create) fresh = new_row(*change.create);
  TaskRow& after = change.create ? fresh : row;
  const task::EventNumber before = after.head.last_event;

  auto applied = task::apply(after.head, change, at, after.artifacts);
  if (!applied) return fail(applied.error());
  const auto bytes = stored_bytes(change.events);
  if (!bytes) return fail(bytes.error());
  if (auto room = check_room(after, change); !room) return fail(room.error());
  if (auto checked = check_order(after.head.key, change); !checked) return fail(checked.error());

  memory::Step step;
  after.head = std::move(applied->head);
  after.head.bytes += *bytes;
  Committed committed;
  if (change.create) {
    after.head.key = {++last_task_.value};
    committed.new_context = enter_context(after.head);
    group_.ids.insert(name_of(*change.create));
    group_.tasks.insert(after.head.key);
    step.metadata = change.create->metadata;
    step.schedule = change.create->schedule;
  }
  note_push(change, after, step);
  for (auto& [id, place] : applied->artifacts) after.artifacts.insert_or_assign(id, place);
  committed.events = numbered(std::move(change.events), before, at);
  note_waiting(after, committed.events);
  step.deliveries = deliveries_of(after, committed.events);
  committed.deliveries = static_cast<int>(step.deliveries.size()) + (change.deliveries ? 1 : 0);
  step.order = change.deliveries;
  if (change.audit) step.audit = with_subject(*change.audit, after.head);
  if (change.send) group_.sends.push_back(*change.send);
  step.send = change.send;
  step.request = change.request;
  step.message = applied->message;
  step.at = at;
  step.events = committed.events;
  committed.head = step.head = after.head;
  group_.entries.emplace_back(std::move(step));
  if (change.create) row = std::move(fresh);
  return committed;
}

// Finds or creates the new task's context. Returns whether the context is new.
bool MemoryStore::enter_context(task::TaskHead& head) {
  const memory::Tables::ContextName name(head.agent, head.caller, head.context);
  if (const auto open = group_.contexts.find(name); open != group_.contexts.end()) {
    head.context_key = open->second;
    return false;
  }
  head.context_key = state_.with([&](const State& state) { return state.tables.context(name); });
  if (head.context_key) return false;
  head.context_key = {++last_context_.value};
  group_.contexts.emplace(name, head.context_key);
  return true;
}

// Adds or replaces, and drops, the configs that the change names.
void MemoryStore::note_push(const task::Change& change, TaskRow& row, memory::Step& step) {
  if (change.push) {
    TaskRow::Config* config = find_config(row, change.push->id);
    if (config == nullptr) {
      config = &row.configs->emplace_back(TaskRow::Config{{++last_config_.value}, change.push->id, {}});
    }
    config->version = change.push->version;
    step.push = change.push;
    step.push_key = config->key;
  }
  TaskRow::Config* dropped = change.drop_push ? find_config(row, *change.drop_push) : nullptr;
  if (dropped == nullptr) return;
  step.dropped = dropped->key;
  group_.results.dropped.insert(dropped->key);
  std::erase_if(*row.configs, [&](const TaskRow::Config& config) { return config.key == step.dropped; });
}

Result<void> MemoryStore::commit() {
  Group group = std::exchange(group_, {});
  state_.with([&](State& state) {
    for (memory::Entry& entry : group.entries) {
      state.tables.apply(entry);
      if (state.flushed) state.unflushed.push_back(std::move(entry));
    }
  });
  return {};
}

Result<void> MemoryStore::flush() {
  state_.with([](State& state) {
    for (const memory::Entry& entry : state.unflushed) state.flushed->apply(entry);
    state.unflushed.clear();
  });
  return {};
}

void MemoryStore::roll_back() {
  group_ = {};
}

void MemoryStore::lose_unflushed() {
  roll_back();
  state_.with([](State& state) {
    state.tables = *state.flushed;
    state.unflushed.clear();
  });
}

Result<TaskRow> MemoryStore::row(task::TaskKey key) const {
  auto [row, log] = state_.with([&](const State& state) {
    const MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return std::pair<TaskRow, std::vector<task::EventPtr>>();
    TaskRow found;
    found.head = task->head;
    found.configs = task->configs;
    return std::pair(std::move(found), task->log);
  });
  if (!row.head.key) return no_task();
  row.artifacts = places_of(log);
  note_waiting(row, log);
  return row;
}

Result<task::TaskHead> MemoryStore::find(const task::TaskRef& ref) const {
  return state_.with([&](const State& state) -> Result<task::TaskHead> {
    const MemoryTask* task = state.tables.task(ref);
    if (task == nullptr) return no_task();
    return task->head;
  });
}

std::vector<task::EventPtr> MemoryStore::log(task::TaskKey key, task::EventNumber after,
                                             task::EventNumber last) const {
  return state_.with([&](const State& state) {
    const MemoryTask* task = state.tables.task(key);
    return task == nullptr ? std::vector<task::EventPtr>() : part(task->log, after, last);
  });
}

Result<task::Task> MemoryStore::read(task::TaskKey key, const task::Depth& depth,
                                     std::optional<task::EventNumber> as_of) const {
  std::vector<task::EventPtr> log;
  base::Timestamp created;
  auto known = state_.with([&](const State& state) -> Result<task::Task> {
    const MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return no_task();
    if (task->head.bytes > depth.bytes_max) return fail(ErrorCode::too_large, "the task is too large");
    log = part(task->log, {}, as_of.value_or(task::kLogEnd));
    created = task->head.created;
    return task::known_of(task->head, task->metadata);
  });
  return known ? task::fold(log, depth, created, std::move(*known)) : known;
}

Result<std::vector<task::Event>> MemoryStore::events(task::TaskKey key, task::EventNumber after,
                                                     int limit) const {
  std::vector<task::Event> events;
  std::size_t bytes = 0;
  after.value = std::max<std::int64_t>(after.value, 0);
  for (const task::EventPtr& event : log(key, after, {after.value + std::max(limit, 0)})) {
    if (bytes >= kPageBytesMax) break;
    bytes += task::weight_of(event->body);
    events.push_back(*event);
  }
  return events;
}

Result<TurnInput> MemoryStore::turn_input(task::TaskKey key, task::EventNumber message) const {
  return state_.with([&](const State& state) -> Result<TurnInput> {
    const MemoryTask* task = state.tables.task(key);
    const bool is_there = task != nullptr && message.value > 0 && message <= task->head.last_event;
    if (!is_there) return fail(ErrorCode::not_found, "event not found");
    const task::Event& event = *task->log[static_cast<std::size_t>(message.value - 1)];
    const auto* added = std::get_if<task::MessageAdded>(&event.body);
    if (added == nullptr) return fail(ErrorCode::not_found, "message not found");
    const auto request = task->requests.find(message);
    return TurnInput{task->metadata, added->message,
                     request == task->requests.end() ? task::RequestData() : request->second};
  });
}

Result<ContextRecord> MemoryStore::context(task::ContextKey context, task::TaskKey task,
                                           task::EventNumber unanswered, int limit) const {
  const auto events = state_.with([&](const State& state) { return state.tables.events_in(context); });
  ContextRecord record;
  Conversation conversation(task, unanswered, limit);
  for (const auto& [key, event] : std::views::reverse(events)) {
    conversation.add(key, *event);
    if (const std::string* id = task::taken_id_in(event->body)) record.call_ids.push_back(*id);
  }
  record.said = std::move(conversation).oldest_first();
  return record;
}

Result<std::optional<Stop>> MemoryStore::stop_after(task::TaskKey key, task::EventNumber number) const {
  for (const task::EventPtr& event : log(key, number, task::kLogEnd)) {
    if (is_stop(event->body)) return Stop{task::status_in(*event)->status.state, event->number};
  }
  return std::nullopt;
}

Result<task::EventNumber> MemoryStore::stop_before(task::TaskKey key, task::EventNumber number) const {
  const auto events = log(key, {}, {number.value - 1});
  for (const task::EventPtr& event : std::views::reverse(events)) {
    if (is_stop(event->body)) return event->number;
  }
  return task::EventNumber();
}

Result<EarlierSend> MemoryStore::earlier_send(const task::SendDigest& digest) const {
  const auto found = state_.with([&](const State& state) { return state.tables.send(digest, clock_.now()); });
  if (!found) return fail(ErrorCode::not_found, "no earlier send");
  return *found;
}

Result<ListPage> MemoryStore::list(const task::ListFilter& filter) const {
  return state_.with([&](const State& state) { return state.tables.list(filter); });
}

Result<Opening> MemoryStore::opening(const task::ContextRef& context) const {
  return state_.with([&](const State& state) { return state.tables.opening(context); });
}

Result<void> MemoryStore::entitle(const task::ContextRef& context, const std::string& title) {
  const memory::Tables::ContextName name{context.agent, context.caller, context.id};
  const bool is_there = has([&](const Group& group) { return group.contexts.contains(name); },
                            [&](const memory::Tables& tables) { return tables.context(name).value != 0; });
  if (!is_there) return fail(ErrorCode::not_found, "conversation not found");
  group_.entries.emplace_back(memory::Title{context, title});
  return {};
}

Result<std::vector<task::TaskHead>> MemoryStore::open_tasks(Open which, task::TaskKey key, int limit) const {
  return state_.with([&](const State& state) { return state.tables.open_tasks(which, key, limit); });
}

// ---- DeliveryStore

// Returns a copy of the task's deliveries with the open group applied.
memory::DeliveryTable MemoryStore::open_deliveries(task::TaskKey task) const {
  auto open = state_.with([&](const State& state) { return state.tables.deliveries().part_of(task); });
  for (const memory::Entry& entry : group_.entries) {
    if (const auto* recorded = std::get_if<memory::Recorded>(&entry))
      open.record(recorded->result, recorded->at);
    const auto* step = std::get_if<memory::Step>(&entry);
    if (step == nullptr) continue;
    if (step->head.key == task) {
      memory::follow(*step, open);
    } else {
      open.pass_over(step->deliveries.size());
    }
  }
  return open;
}

Result<void> MemoryStore::check_order(task::TaskKey key, const task::Change& change) {
  if (!change.deliveries) return {};
  auto checked = open_deliveries(key).check(key, *change.deliveries);
  group_.has_orders |= checked.has_value();
  return checked;
}

Result<void> MemoryStore::record(const DeliveryResult& result) {
  auto [checked, task] = state_.with([&](const State& state) {
    const memory::DeliveryTable& deliveries = state.tables.deliveries();
    return std::pair(deliveries.check(result.key, group_.results), deliveries.task_of(result.key));
  });
  // Once the group has a delivery order, `results` does not show which deliveries wait.
  if (group_.has_orders) checked = open_deliveries(task).check(result.key, {});
  if (!checked) return checked;
  if (result.kind != DeliveryResult::Kind::retry) group_.results.settled.insert(result.key);
  group_.entries.emplace_back(memory::Recorded{result, now()});
  return {};
}

Result<std::vector<Delivery>> MemoryStore::due_deliveries(base::Timestamp now, int limit) const {
  return state_.with([&](const State& state) {
    std::vector<Delivery> due = state.tables.deliveries().due(now, limit);
    for (Delivery& delivery : due) {
      for (const auto& [number, request] : state.tables.task(delivery.task)->requests) {
        if (number.value <= delivery.event.value + 1 && !request.trace.empty())
          delivery.trace = request.trace;
      }
    }
    return due;
  });
}

Result<std::optional<base::Timestamp>> MemoryStore::next_due() const {
  return state_.with([](const State& state) { return state.tables.deliveries().next_due(); });
}

Result<std::vector<task::PushConfig>> MemoryStore::configs(task::TaskKey key) const {
  return state_.with([&](const State& state) {
    std::vector<task::PushConfig> found;
    const MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return found;
    for (const TaskRow::Config& config : task->configs) {
      found.push_back(state.tables.deliveries().config(config.key));
    }
    return found;
  });
}

Result<DeliveryStore::Counts> MemoryStore::delivery_counts() const {
  return state_.with([](const State& state) { return state.tables.deliveries().counts(); });
}

// ---- RetentionStore

Result<std::vector<task::TaskHead>> MemoryStore::all_tasks(task::TaskKey after, int limit) const {
  return state_.with([&](const State& state) { return state.tables.all_tasks(after, limit); });
}

Result<task::TaskKey> MemoryStore::last_made(base::Timestamp time) const {
  return state_.with([&](const State& state) { return state.tables.last_made(time); });
}

Result<std::vector<TreeMember>> MemoryStore::tree(task::TaskKey root, int most) const {
  auto members = state_.with([&](const State& state) { return state.tables.tree(root); });
  if (std::ssize(members) <= most) return members;
  return base::fail(base::ErrorCode::too_large, "the tree is too large");
}

Result<std::vector<task::TaskHead>> MemoryStore::in_context(const task::ContextRef& context) const {
  return state_.with([&](const State& state) { return state.tables.in_context(context); });
}

// Whether the task may be removed now. Refuses a task if the open group changes the task, its parent or a
// child.
bool MemoryStore::may_go(const memory::Tables& tables, const Removal::One& one, bool erases) const {
  const MemoryTask* task = tables.task(one.task);
  if (task == nullptr || group_.gone.contains(one.task)) return false;
  const task::TaskHead& head = task->head;
  const bool is_busy = std::ranges::any_of(group_.entries, [&](const memory::Entry& entry) {
    const auto* step = std::get_if<memory::Step>(&entry);
    if (step == nullptr) return false;
    return step->head.key == one.task || step->head.parent == one.task ||
           (head.parent && step->head.key == head.parent);
  });
  const MemoryTask* parent = head.parent ? tables.task(head.parent) : nullptr;
  // The parent may have been reopened since the removal was planned.
  const bool goes_on = parent != nullptr && !has_ended(parent->head);
  const bool delivers = std::ranges::any_of(
      task->configs, [&](const TaskRow::Config& config) { return tables.deliveries().waits(config.key); });
  return !is_busy && !goes_on && head.version == one.version && has_ended(head) &&
         !tables.has_children(one.task, group_.gone) && (erases || !delivers);
}

Result<std::vector<Removed>> MemoryStore::remove(const Removal& removal) {
  std::vector<Removed> removed;
  memory::Gone entry;
  state_.with([&](const State& state) {
    for (const Removal::One& one : removal.tasks) {
      if (!may_go(state.tables, one, removal.erases)) continue;
      const task::TaskHead& head = state.tables.task(one.task)->head;
      removed.push_back({one.task, head.caller, head.bytes});
      entry.tasks.push_back(one.task);
      group_.gone.insert(one.task);
    }
  });
  group_.entries.emplace_back(std::move(entry));
  return removed;
}

// ---- OperatorStore

Result<TaskPage> MemoryStore::page(const TaskQuery& query) const {
  return state_.with([&](const State& state) { return state.tables.page(query); });
}

Result<TaskCount> MemoryStore::count(const TaskFilter& filter) const {
  return state_.with([&](const State& state) { return state.tables.count(filter); });
}

Result<std::vector<OperatorStore::AgentCounts>> MemoryStore::counts_by_agent() const {
  return state_.with([](const State& state) { return state.tables.counts_by_agent(); });
}

Result<TaskLine> MemoryStore::line(task::TaskKey key) const {
  return state_.with([&](const State& state) -> Result<TaskLine> {
    const memory::MemoryTask* task = state.tables.task(key);
    if (task == nullptr) return fail(ErrorCode::task_not_found, "task not found");
    return state.tables.line(*task);
  });
}

Result<DeliveryPage> MemoryStore::deliveries(const DeliveryFilter& filter, std::int64_t before,
                                             int limit) const {
  return state_.with([&](const State& state) { return state.tables.deliveries(filter, before, limit); });
}

Result<DeliveryLine> MemoryStore::delivery(DeliveryKey key) const {
  return state_.with([&](const State& state) -> Result<DeliveryLine> {
    auto line = state.tables.delivery(key);
    if (!line) return fail(ErrorCode::not_found, "delivery not found");
    return std::move(*line);
  });
}

Result<AuditPage> MemoryStore::audit(const AuditFilter& filter, std::int64_t before, int limit) const {
  return state_.with(
      [&](const State& state) { return state.tables.operators().audit(filter, before, limit); });
}

Result<std::vector<CrashedTurn>> MemoryStore::crashed_turns() const {
  return state_.with([](const State& state) { return state.tables.crashed_turns(); });
}

Result<std::vector<AgentControl>> MemoryStore::agent_controls() const {
  return state_.with([](const State& state) { return state.tables.operators().controls(); });
}

Result<std::vector<BulkJob>> MemoryStore::bulk_jobs(int limit) const {
  return state_.with([&](const State& state) { return state.tables.operators().jobs(limit); });
}

Result<BulkJob> MemoryStore::bulk_job(task::BulkJobKey key) const {
  return state_.with([&](const State& state) -> Result<BulkJob> {
    const BulkJob* job = state.tables.operators().job(key);
    if (job == nullptr) return fail(ErrorCode::not_found, "job not found");
    return *job;
  });
}

Result<std::vector<BulkItem>> MemoryStore::bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                      bool open) const {
  return state_.with(
      [&](const State& state) { return state.tables.operators().items(job, after, limit, open); });
}

Result<std::vector<ApiKey>> MemoryStore::api_keys() const {
  return state_.with([](const State& state) { return state.tables.operators().keys().all(); });
}

Result<ApiKey> MemoryStore::api_key(const std::string& id) const {
  return state_.with([&](const State& state) -> Result<ApiKey> {
    const ApiKey* const found = state.tables.operators().keys().find(id);
    if (found == nullptr) return fail(no_such_api_key());
    return *found;
  });
}

Result<std::int64_t> MemoryStore::api_keys_state() const {
  return state_.with([](const State& state) { return state.tables.operators().keys().state(); });
}

// Checks a write of API keys against the keys as the open group leaves them.
Result<void> MemoryStore::check_key(const OperatorWrite& write) {
  if (!std::holds_alternative<NewApiKey>(write) && !std::holds_alternative<RevokedApiKey>(write) &&
      !std::holds_alternative<ApiKeysOfCaller>(write))
    return {};
  memory::KeyTable keys = state_.with([](const State& state) { return state.tables.operators().keys(); });
  for (const memory::Entry& entry : group_.entries) {
    if (const auto* one = std::get_if<memory::OperatorEntry>(&entry)) keys.apply(one->write, one->at);
  }
  return keys.check(write, now());
}

Result<void> MemoryStore::write(const OperatorWrite& write) {
  const auto checked =
      state_.with([&](const State& state) { return state.tables.operators().check(write, group_.jobs); });
  if (!checked) return checked;
  if (auto fits = check_key(write); !fits) return fits;
  if (const auto* job = std::get_if<BulkJob>(&write)) group_.jobs[job->key] = job->state;
  if (const auto* state = std::get_if<BulkState>(&write)) group_.jobs[state->job] = state->state;
  group_.entries.emplace_back(memory::OperatorEntry{write, now()});
  return {};
}

}  // namespace baton::store
