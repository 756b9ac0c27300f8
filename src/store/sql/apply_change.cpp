#include "store/sql/apply_change.h"

#include <algorithm>
#include <utility>

#include "store/event_codec.h"
#include "store/log_reads.h"
#include "store/own_context.h"
#include "store/sql/context_rows.h"
#include "store/sql/delivery_rows.h"
#include "store/sql/failure.h"
#include "store/sql/log_rows.h"
#include "store/sql/operator_rows.h"
#include "store/sql/push_rows.h"
#include "store/task_filter.h"

namespace baton::store::sql {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The most artifacts cached per task; beyond this the cache is cleared and they are looked up again.
constexpr std::size_t kKnownArtifactsMax = 64;
// Well below SQLite's limit for a row (1 GB).
constexpr std::size_t kBodyMax = 512u << 20;

// An accepted change that is not written yet.
struct Step {
  task::Applied applied;
  std::vector<std::string> encoded;
};

void write_events(Connection& connection, const TaskRow& row, task::EventNumber before, const Step& step,
                  const std::vector<task::EventBody>& bodies, base::Timestamp at) {
  insert_events(connection, row.head.key, before, bodies, step.encoded, at);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const task::EventNumber number{before.value + 1 + static_cast<std::int64_t>(i)};
    if (row.indexed) insert_landmark(connection, row.head.key, number, bodies[i]);
    if (!row.alone) insert_in_context(connection, row.head, number, at, bodies[i]);
  }
}

// Whether the task's own row keeps the trace of the change's request. This avoids a row of `turn_requests`
// for each sampled send, which would cost as much as the spans themselves.
bool keeps_trace(const task::Change& change, task::EventNumber message) {
  return change.create && change.request && message == task::kFirstMessage;
}

void write_request(Connection& connection, task::TaskKey key, task::EventNumber message,
                   const task::Change& change) {
  const task::RequestData& request = *change.request;
  const std::string trace = keeps_trace(change, message) ? std::string() : request.trace;
  if (trace.empty() && !request.says_more_than_trace()) return;
  const auto list = [](const std::vector<std::string>& strings) {
    return strings.empty() ? std::string() : store::codec::encode_strings(strings);
  };
  const std::string history = request.history ? store::codec::encode_messages(*request.history) : "";
  connection.run(
      "INSERT INTO turn_requests (task_key, number, metadata, tools, client_state, extensions, hops, "
      "history, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      key, message, request.metadata.text, request.tools.text, request.client_state.text,
      list(request.extensions), list(request.hops), history, trace);
}

// Deletes a client's history after its turn. Such a client sends the whole conversation with each message, so
// keeping all histories would need quadratic space.
void forget_history(Connection& connection, const task::TaskHead& before, TaskRow& row) {
  const task::TaskHead& after = row.head;
  if (!row.may_have_history || before.turn_state == task::TurnState::none) return;
  if (after.turn_state == task::TurnState::none) {
    // Also deletes the histories of messages that will have no turn.
    connection.run(
        "UPDATE turn_requests SET history = '' WHERE task_key = ? AND number >= ? AND history <> ''",
        before.key, before.turn_message);
    row.may_have_history = false;
  } else if (after.turn_message != before.turn_message) {
    connection.run(
        "UPDATE turn_requests SET history = '' WHERE task_key = ? AND number = ? AND history <> ''",
        before.key, before.turn_message);
  }
}

// Whether the new task is alone in its own context, which needs no rows yet.
bool is_alone(const task::NewTask& task, bool indexed) {
  return task.fresh_id && task.fresh_context && !indexed && task.context == own_context(task.id);
}

Result<void> write_down_context(WriteState& state, TaskRow& row) {
  const auto log = read_log(state.connection(), row.head.key);
  if (!log) return fail(log.error());
  write_down_context(state.connection(), row.head, *log, stamp_of(row.head, row.alone));
  row.alone = false;
  state.note_join();
  return {};
}

// Finds or creates the task's context. Returns whether it is new.
Result<bool> enter_context(WriteState& state, task::TaskHead& head, const task::NewTask& task) {
  Connection& connection = state.connection();
  const ContextRow found =
      task.fresh_context ? ContextRow() : find_context(connection, head.agent, head.caller, head.context);
  head.context_key = found.key;
  if (!found.key) {
    head.context_key = state.new_context_key();
    insert_context(connection, head);
    return true;
  }
  if (found.has_rows) state.keep_context(found.key);
  if (!found.has_rows) {
    auto first = find_head(connection, task_of_own_key(found.key));
    if (!first) return fail(damaged("a context without its task"));
    if (auto written = write_down_context(state, *first); !written) return fail(written.error());
  }
  return false;
}

// Writes everything except the task's own row.
int write_step(WriteState& state, TaskRow& task, task::EventNumber before, Step& step,
               const task::Change& change, base::Timestamp now) {
  Connection& connection = state.connection();
  const task::TaskKey key = task.head.key;
  if (change.push) put_config(state, task, *change.push);
  if (change.drop_push) drop_config(state, task, *change.drop_push);
  if (task.indexed) write_artifacts(connection, key, task.artifacts, step.applied.artifacts);
  write_events(connection, task, before, step, change.events, now);
  if (change.request) {
    write_request(connection, key, step.applied.message, change);
    task.may_have_history |= change.request->history.has_value();
  }
  if (change.send) state.sends().add(connection, *change.send, {key, before}, now);
  int deliveries = 0;
  if (change.deliveries) {
    follow_order(state, key, *change.deliveries);
    state.note_resent(task);
    ++deliveries;
  }
  if (change.audit) insert_audit(connection, with_subject(*change.audit, task.head), now);
  for (std::size_t i = 0; i < change.events.size(); ++i) {
    const task::EventNumber number{before.value + 1 + static_cast<std::int64_t>(i)};
    deliveries += add_deliveries(state, task, number, change.events[i], now);
  }
  return deliveries;
}

Committed committed(const task::TaskHead& head, std::vector<task::EventBody>&& bodies, int deliveries,
                    base::Timestamp now) {
  Committed result;
  result.head = head;
  result.deliveries = deliveries;
  std::int64_t number = head.last_event.value - static_cast<std::int64_t>(bodies.size());
  result.events.reserve(bodies.size());
  for (task::EventBody& body : bodies) {
    result.events.push_back(
        std::make_shared<const task::Event>(task::Event{{++number}, now, std::move(body)}));
  }
  return result;
}

// Called before anything is written, because a change that is too large must leave no trace.
Result<std::vector<std::string>> encode(const std::vector<task::EventBody>& bodies) {
  std::vector<std::string> encoded;
  encoded.reserve(bodies.size());
  for (const task::EventBody& body : bodies) {
    encoded.push_back(store::codec::encode(body));
    if (encoded.back().size() > kBodyMax) return fail(ErrorCode::too_large, "too large to be stored");
  }
  return encoded;
}

Result<void> check_push(WriteState& state, TaskRow& task, const task::Change& change) {
  return change.push ? check_room(state, task, change.push->id, change.push_configs_max) : Result<void>();
}

// Checks that ids fit into the database's indexes. Ids and URLs of remote agents may have any length.
Result<void> check_keys(const WriteState& state, const task::Change& change, const Step& step) {
  bool fits = true;
  if (const auto& task = change.create) {
    fits = state.fits_key({task->agent.value, task->caller.value, task->id.value}) &&
           state.fits_key({task->agent.value, task->caller.value, task->context.value}) &&
           state.fits_key({task->agent.value, task->schedule});
  }
  if (change.push) fits = fits && state.fits_key({change.push->id.value});
  for (const auto& [id, place] : step.applied.artifacts) fits = fits && state.fits_key({id.value});
  for (const task::EventBody& body : change.events) {
    const std::string* call = task::taken_id_in(body);
    fits = fits && (call == nullptr || state.fits_key({*call}));
  }
  return fits ? Result<void>() : fail(ErrorCode::too_large, "an id is too long to be stored");
}

std::size_t bytes_of(const std::vector<std::string>& encoded) {
  std::size_t bytes = 0;
  for (const std::string& body : encoded) bytes += body.size();
  return bytes;
}

// Applies the rules and prepares the rows. Writes nothing, so that a refusal leaves no trace.
Result<Step> plan(WriteState& state, TaskRow& task, task::Change& change, base::Timestamp now) {
  auto applied = task::apply(task.head, change, now, state.artifacts(task, change));
  if (!applied) return fail(applied.error());
  auto encoded = encode(change.events);
  if (!encoded) return fail(encoded.error());
  if (auto checked = check_push(state, task, change); !checked) return fail(checked.error());
  if (change.deliveries) {
    auto checked = check_order(state.connection(), task.head.key, *change.deliveries);
    if (!checked) return fail(checked.error());
  }
  applied->head.bytes += bytes_of(*encoded);
  Step step{std::move(*applied), std::move(*encoded)};
  if (auto checked = check_keys(state, change, step); !checked) return fail(checked.error());
  return step;
}

// Updates the cached places of the artifacts that the change touched.
void note_artifacts(TaskRow& row, task::ArtifactPlaces&& touched) {
  if (row.artifacts.size() + touched.size() > kKnownArtifactsMax) row.artifacts.clear();
  for (const auto& [id, place] : touched) row.artifacts.insert_or_assign(id, place);
}

Result<void> check_new(WriteState& state, const task::NewTask& task) {
  Connection& connection = state.connection();
  if (!task.fresh_id && find_head(connection, {task.caller, task.agent, task.id})) {
    return fail(ErrorCode::already_exists, "the task id is already in use");
  }
  if (task.parent && !task_exists(connection, task.parent)) {
    return fail(ErrorCode::task_not_found, "parent task not found");
  }
  return {};
}

bool waits_otherwise(const task::TaskHead& before, const task::TaskHead& after) {
  return before.waits != after.waits || before.child_failed != after.child_failed;
}

// Returns the owner of the turn after a change of a task that had the head `before`.
NodeId owner_after(const WriteState& state, const task::TaskHead& before, const TaskRow& row) {
  const task::TaskHead& after = row.head;
  if (after.turn_state == task::TurnState::none) return {};
  const bool is_same =
      before.turn == after.turn && before.attempt == after.attempt && before.turn_state == after.turn_state;
  return is_same ? row.owner : state.node();
}

Result<Committed> create(WriteState& state, task::Change& change, TaskRow& row) {
  const task::NewTask& task = *change.create;
  if (auto checked = check_new(state, task); !checked) return fail(checked.error());
  const base::Timestamp now = state.now();
  TaskRow fresh;
  fresh.head = task::new_head(task);
  fresh.configs.emplace();
  fresh.may_have_history = false;
  auto step = plan(state, fresh, change, now);
  if (!step) return fail(step.error());

  task::TaskHead& head = fresh.head = std::move(step->applied.head);
  head.key = state.new_task_key();
  fresh.owner = owner_after(state, {}, fresh);
  fresh.indexed = outgrows(head.last_event, step->encoded, state.short_events_max());
  fresh.alone = is_alone(task, fresh.indexed);
  fresh.joins_seen = state.joins();
  const auto new_context = fresh.alone ? true : enter_context(state, head, task);
  if (!new_context) return fail(new_context.error());
  insert_task(state.connection(), fresh, task,
              keeps_trace(change, step->applied.message) ? change.request->trace : std::string());
  if (waits_otherwise({}, head)) update_waits(state.connection(), fresh);
  if (head.budget) update_budget(state.connection(), fresh);
  if (fresh.alone) head.context_key = own_context_key(head.key);
  state.count(head, 1);
  const int deliveries = write_step(state, fresh, {}, *step, change, now);
  auto result = committed(head, std::move(change.events), deliveries, now);
  result.new_context = *new_context;
  result.owner = fresh.owner;
  note_artifacts(fresh, std::move(step->applied.artifacts));
  note_waiting(fresh, result.events);
  row = std::move(fresh);
  return result;
}

// Updates row.alone if another task may have joined the context meanwhile.
void look_for_joins(WriteState& state, TaskRow& row) {
  if (!row.alone || row.joins_seen == state.joins()) return;
  row.alone = !has_rows(state.connection(), row.head.context_key);
  row.joins_seen = state.joins();
}

// Writes the index rows of the task's existing log once it is no longer short.
Result<void> index_if_long(WriteState& state, const task::TaskHead& before, TaskRow& row, const Step& step) {
  if (row.indexed || !outgrows(row.head.last_event, step.encoded, state.short_events_max())) return {};
  const auto log = read_log(state.connection(), row.head.key);
  if (!log) return fail(log.error());
  if (row.alone) write_down_context(state.connection(), row.head, *log, stamp_of(before, row.alone));
  row.alone = false;
  index_log(state.connection(), row.head.key, *log);
  set_indexed(state.connection(), row.head.key);
  row.indexed = true;
  return {};
}

Result<Committed> advance(WriteState& state, task::Change& change, TaskRow& row) {
  const base::Timestamp now = state.now();
  auto step = plan(state, row, change, now);
  if (!step) return fail(step.error());

  // From here on a failure ends the group and makes the row invalid.
  const task::TaskHead before = std::exchange(row.head, std::move(step->applied.head));
  const NodeId owner_before = std::exchange(row.owner, owner_after(state, before, row));
  look_for_joins(state, row);
  if (auto indexed = index_if_long(state, before, row, *step); !indexed) return fail(indexed.error());
  state.count(before, -1);
  const int deliveries = write_step(state, row, before.last_event, *step, change, now);
  const bool new_status = row.head.status_event != before.status_event;
  (!step->applied.decides ? update_head_ends
   : new_status           ? update_head_and_status
                          : update_head)(state.connection(), row, stamp_of(before, row.alone));
  if (waits_otherwise(before, row.head)) update_waits(state.connection(), row);
  if (before.tokens != row.head.tokens || before.children != row.head.children)
    update_usage(state.connection(), row);
  if (before.budget != row.head.budget) update_budget(state.connection(), row);
  if (step->applied.shows) show_head(state.connection(), change.task);
  forget_history(state.connection(), before, row);
  state.count(row.head, 1);
  auto result = committed(row.head, std::move(change.events), deliveries, now);
  result.owner_before = owner_before;
  result.owner = row.owner;
  note_artifacts(row, std::move(step->applied.artifacts));
  note_waiting(row, result.events);
  return result;
}

}  // namespace

Result<Committed> apply_change(WriteState& state, task::Change& change, TaskRow& row) {
  if (auto subject = task::check_subject(change); !subject) return fail(subject.error());
  // Checked first, because a send is a repetition regardless of later changes to the task.
  if (change.send && state.sends().may_have(*change.send) &&
      state.sends().find(state.connection(), *change.send, state.now())) {
    return fail(ErrorCode::already_exists, "the message was already sent");
  }
  return change.create ? create(state, change, row) : advance(state, change, row);
}

}  // namespace baton::store::sql
