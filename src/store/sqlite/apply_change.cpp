#include "store/sqlite/apply_change.h"

#include <algorithm>
#include <utility>

#include "store/own_context.h"
#include "store/sqlite/context_rows.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/event_rows.h"
#include "store/sqlite/index_rows.h"
#include "store/sqlite/push_rows.h"
#include "wire/stored/event_codec.h"

namespace baton::store::sqlite {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// A task holds so many artifacts in memory; past that they are looked up again.
constexpr std::size_t kKnownArtifactsMax = 64;
// Well under what SQLite takes in one row (1 GB).
constexpr std::size_t kBodyMax = 512u << 20;

// The most common changes have two or three events: each statement costs more than a row.
void insert_events(Connection& connection, task::TaskKey key, task::EventNumber before,
                   const std::vector<task::EventBody>& bodies, const std::vector<std::string>& encoded,
                   base::Timestamp at) {
  static constexpr char kOne[] = "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4)";
  static constexpr char kTwo[] =
      "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4), "
      "(?1 + 1, ?5, ?2, ?6)";
  static constexpr char kThree[] =
      "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4), "
      "(?1 + 1, ?5, ?2, ?6), (?1 + 2, ?7, ?2, ?8)";
  const auto kind = [&](std::size_t i) { return static_cast<int>(wire::stored::kind_of(bodies[i])); };
  const std::int64_t ms = base::to_ms(at);
  for (std::size_t i = 0; i < bodies.size();) {
    const std::int64_t first = event_key(key, {before.value + 1 + static_cast<std::int64_t>(i)});
    switch (std::min<std::size_t>(bodies.size() - i, 3)) {
      case 1:
        connection.run(kOne, first, ms, kind(i), encoded[i]);
        i += 1;
        break;
      case 2:
        connection.run(kTwo, first, ms, kind(i), encoded[i], kind(i + 1), encoded[i + 1]);
        i += 2;
        break;
      default:
        connection.run(kThree, first, ms, kind(i), encoded[i], kind(i + 1), encoded[i + 1], kind(i + 2),
                       encoded[i + 2]);
        i += 3;
    }
  }
}

void write_events(Connection& connection, const TaskHead& head, task::EventNumber before,
                  const ChangePlan& plan, const std::vector<task::EventBody>& bodies,
                  const std::vector<std::string>& encoded, base::Timestamp at) {
  insert_events(connection, head.key, before, bodies, encoded, at);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const task::EventNumber number{before.value + 1 + static_cast<std::int64_t>(i)};
    if (plan.row.indexed) insert_event_rows(connection, head.key, number, plan.events[i]);
    if (!plan.row.alone) insert_in_context(connection, head, number, at, plan.events[i], bodies[i]);
  }
}

void write_request(Connection& connection, task::TaskKey key, task::EventNumber message,
                   const TurnRequest& request) {
  const std::string extensions =
      request.extensions.empty() ? "" : wire::stored::encode_strings(request.extensions);
  const std::string history = request.history ? wire::stored::encode_messages(*request.history) : "";
  if (request.metadata.empty() && request.tools.empty() && request.client_state.empty() &&
      extensions.empty() && history.empty()) {
    return;
  }
  connection.run(
      "INSERT INTO turn_requests (task_key, number, metadata, tools, client_state, extensions, history) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      key, message, request.metadata.text, request.tools.text, request.client_state.text, extensions,
      history);
}

// A client that keeps the conversation itself sends all of it with each message: kept, a long one would need
// the square of its length.
void forget_history(Connection& connection, const TaskHead& before, const TaskHead& after) {
  if (before.turn_state == TurnState::none) return;
  if (after.turn_state == TurnState::none) {
    // With it go those of messages that will have no turn.
    connection.run(
        "UPDATE turn_requests SET history = '' WHERE task_key = ? AND number >= ? AND history <> ''",
        before.key, before.turn_message);
  } else if (after.turn != before.turn) {
    connection.run(
        "UPDATE turn_requests SET history = '' WHERE task_key = ? AND number = ? AND history <> ''",
        before.key, before.turn_message);
  }
}

// Whether the task is the only one in a context that needs no rows so far.
bool is_alone(const NewTask& task, bool indexed) {
  return task.fresh_id && task.fresh_context && !indexed && task.context == own_context(task.id);
}

Result<void> write_down_context(WriteState& state, HeadRow& row) {
  if (!row.alone) return {};
  const auto log = read_short_log(state.connection(), row.head.key, row.head.last_event);
  if (!log) return fail(log.error());
  write_down_context(state.connection(), row.head, *log);
  row.alone = false;
  return {};
}

// Whether it is a new one.
Result<bool> enter_context(WriteState& state, TaskHead& head, const NewTask& task, base::Timestamp now) {
  if (task.fresh_context) {
    // Not remembered: most such contexts are never used again.
    head.context_key = insert_context(state.connection(), head, now);
    return true;
  }
  ContextRow& context = state.context(head);
  const bool fresh = !context.key;
  if (fresh) context.key = insert_context(state.connection(), head, now);
  if (!fresh && !context.has_rows) {
    KnownTask* first = state.task(task_of_own_key(context.key));
    if (first == nullptr) return fail(damaged("a context without its task"));
    if (auto written = write_down_context(state, first->row); !written) return fail(written.error());
  }
  context.has_rows = true;
  head.context_key = context.key;
  return fresh;
}

// Everything of the plan but the task's own row.
int write_plan(WriteState& state, KnownTask& task, task::EventNumber before, const ChangePlan& plan,
               const Change& change, const std::vector<std::string>& encoded, base::Timestamp now) {
  Connection& connection = state.connection();
  const TaskHead& head = plan.row.head;
  if (change.push) put_config(state, task, *change.push);
  if (plan.row.indexed) {
    for (const task::ArtifactId& id : plan.new_artifacts) {
      insert_artifact(connection, head.key, plan.artifacts.at(id).ordinal, id);
    }
  }
  write_events(connection, head, before, plan, change.events, encoded, now);
  if (change.request) write_request(connection, head.key, plan.message, *change.request);
  if (change.send) state.sends().add(connection, *change.send, {head.key, before}, now);
  int deliveries = 0;
  for (std::size_t i = 0; i < change.events.size(); ++i) {
    const task::EventNumber number{before.value + 1 + static_cast<std::int64_t>(i)};
    deliveries += add_deliveries(state, task, number, change.events[i], now);
  }
  return deliveries;
}

Committed committed(const TaskHead& head, std::vector<task::EventBody>&& bodies, int deliveries,
                    base::Timestamp now) {
  Committed result{head, {}, deliveries, false};
  std::int64_t number = head.last_event.value - static_cast<std::int64_t>(bodies.size());
  result.events.reserve(bodies.size());
  for (task::EventBody& body : bodies) {
    result.events.push_back(
        std::make_shared<const task::Event>(task::Event{{++number}, now, std::move(body)}));
  }
  return result;
}

// Before anything is written: a change that turns out too large must leave no trace.
Result<std::vector<std::string>> encode(const std::vector<task::EventBody>& bodies) {
  std::vector<std::string> encoded;
  encoded.reserve(bodies.size());
  for (const task::EventBody& body : bodies) {
    encoded.push_back(wire::stored::encode(body));
    if (encoded.back().size() > kBodyMax) return fail(ErrorCode::too_large, "too large to be stored");
  }
  return encoded;
}

Result<void> check_push(WriteState& state, KnownTask& task, const Change& change) {
  return change.push ? check_room(state, task, change.push->id, change.push_configs_max) : Result<void>();
}

std::size_t bytes_of(const std::vector<std::string>& encoded) {
  std::size_t bytes = 0;
  for (const std::string& body : encoded) bytes += body.size();
  return bytes;
}

void remember(KnownTask& task, ChangePlan&& plan) {
  task.row = std::move(plan.row);
  if (task.artifacts.size() + plan.artifacts.size() > kKnownArtifactsMax) task.artifacts.clear();
  for (const auto& [id, known] : plan.artifacts) task.artifacts.insert_or_assign(id, known);
}

Result<void> check_new(WriteState& state, const NewTask& task) {
  if (task.id.empty() || task.context.empty()) {
    return fail(ErrorCode::invalid_argument, "a task needs an id and a context");
  }
  Connection& connection = state.connection();
  if (!task.fresh_id && find_head(connection, {task.caller, task.agent, task.id})) {
    return fail(ErrorCode::already_exists, "the task id is taken");
  }
  if (task.parent && !task_exists(connection, task.parent)) {
    return fail(ErrorCode::task_not_found, "there is no such parent task");
  }
  return {};
}

Result<Committed> create(WriteState& state, Change& change) {
  const NewTask& task = *change.create;
  if (auto checked = check_new(state, task); !checked) return fail(checked.error());
  HeadRow empty;
  empty.head.id = task.id;
  empty.head.agent = task.agent;
  empty.head.caller = task.caller;
  empty.head.context = task.context;
  empty.head.parent = task.parent;
  empty.head.origin = task.origin;
  empty.head.hidden = task.hidden;
  const base::Timestamp now = state.now();
  auto plan = plan_change(empty, change, now, [](const task::ArtifactId&) { return std::nullopt; });
  if (!plan) return fail(plan.error());
  const auto encoded = encode(change.events);
  if (!encoded) return fail(encoded.error());
  KnownTask known{HeadRow{}, {}, std::vector<KnownConfig>{}};
  if (auto checked = check_push(state, known, change); !checked) return fail(checked.error());

  TaskHead& head = plan->row.head;
  head.bytes = bytes_of(*encoded);
  plan->row.indexed = outgrows(head.last_event, *encoded, state.short_events_max());
  plan->row.alone = is_alone(task, plan->row.indexed);
  const auto new_context = plan->row.alone ? true : enter_context(state, head, task, now);
  if (!new_context) return fail(new_context.error());
  head.key = insert_task(state.connection(), plan->row, task, now);
  if (plan->row.alone) head.context_key = own_context_key(head.key);
  state.count(head, 1);
  known.row = plan->row;
  const int deliveries = write_plan(state, known, {}, *plan, change, *encoded, now);
  auto result = committed(head, std::move(change.events), deliveries, now);
  result.new_context = *new_context;
  remember(known, std::move(*plan));
  state.remember(std::move(known));
  return result;
}

// The rows of what a task had until now, once it is no longer short.
Result<void> index_if_long(WriteState& state, const TaskHead& before, ChangePlan& plan,
                           const std::vector<std::string>& encoded) {
  if (plan.row.indexed || !outgrows(plan.row.head.last_event, encoded, state.short_events_max())) return {};
  const auto log = read_short_log(state.connection(), before.key, before.last_event);
  if (!log) return fail(log.error());
  if (plan.row.alone) write_down_context(state.connection(), plan.row.head, *log);
  plan.row.alone = false;
  index_log(state.connection(), before.key, *log);
  set_indexed(state.connection(), before.key);
  plan.row.indexed = true;
  return {};
}

Result<Committed> advance(WriteState& state, Change& change) {
  KnownTask* task = state.task(change.task);
  if (task == nullptr) return fail(ErrorCode::task_not_found, "task not found");
  const base::Timestamp now = state.now();
  auto plan = plan_change(task->row, change, now,
                          [&](const task::ArtifactId& id) { return state.artifact(*task, id); });
  if (!plan) return fail(plan.error());
  const auto encoded = encode(change.events);
  if (!encoded) return fail(encoded.error());
  if (auto checked = check_push(state, *task, change); !checked) return fail(checked.error());

  plan->row.head.bytes += bytes_of(*encoded);
  // What stops in any other way than by completing is no answer by a message.
  const task::State state_after = plan->row.head.state;
  const bool stays_hidden =
      !change.shows && (!task::is_stopped(state_after) || state_after == task::State::completed);
  const bool shows = !stays_hidden && std::exchange(plan->row.head.hidden, false);
  const task::EventNumber before = task->row.head.last_event;
  if (auto indexed = index_if_long(state, task->row.head, *plan, *encoded); !indexed) {
    return fail(indexed.error());
  }
  state.count(task->row.head, -1);
  task->row.head.hidden = plan->row.head.hidden;  // webhooks hear of the change that shows the task
  const int deliveries = write_plan(state, *task, before, *plan, change, *encoded, now);
  if (plan->decides) {
    const bool new_status = plan->row.status_event != task->row.status_event;
    (new_status ? update_head_and_status : update_head)(state.connection(), plan->row, now);
  } else if (!change.events.empty()) {
    update_head_ends(state.connection(), plan->row, now);
  }
  if (shows) show_head(state.connection(), change.task);
  forget_history(state.connection(), task->row.head, plan->row.head);
  state.count(plan->row.head, 1);
  auto result = committed(plan->row.head, std::move(change.events), deliveries, now);
  remember(*task, std::move(*plan));
  return result;
}

}  // namespace

Result<Committed> apply_change(WriteState& state, Change& change) {
  if (change.create.has_value() == static_cast<bool>(change.task)) {
    return fail(ErrorCode::invalid_argument, "a change is about one task: a new one or an old one");
  }
  // Before anything else: a repeated send is one whatever has become of the task since.
  if (change.send && state.sends().find(state.connection(), *change.send, state.now())) {
    return fail(ErrorCode::already_exists, "the message was sent before");
  }
  return change.create ? create(state, change) : advance(state, change);
}

}  // namespace baton::store::sqlite
