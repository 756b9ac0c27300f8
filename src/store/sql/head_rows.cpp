#include "store/sql/head_rows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include "store/budget_codec.h"
#include "store/own_context.h"
#include "store/sql/context_rows.h"
#include "store/sql/failure.h"

namespace baton::store::sql {
namespace {

constexpr std::array<std::string_view, 4> kTurnStates{"none", "queued", "running", "waiting"};

std::string name_of(task::TurnState state) {
  return std::string(kTurnStates[static_cast<std::size_t>(state)]);
}

task::TurnState turn_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kTurnStates.size(); ++i) {
    if (kTurnStates[i] == name) return static_cast<task::TurnState>(i);
  }
  throw damaged_row("unknown turn_state");
}

std::string select_heads(std::string_view rest, std::string_view tasks = "tasks t") {
  return "SELECT t.task_key, t.public_id, t.agent, t.caller, t.context_key, c.public_id, t.parent_key, "
         "t.version, "
         "t.state, t.last_event, t.turn, t.turn_state, t.attempt, t.turn_message, t.waiting_messages, "
         "t.cancel_requested, t.ask, t.artifact_count, t.status_event, t.message_count, t.status_ms, "
         "t.origin, t.indexed, t.created_ms, t.bytes, t.hidden, t.turn_begin, t.awaited, "
         "t.waits_open_max, t.waits_on_failure, t.waits_until_ms, t.child_failed, t.tokens, t.children, "
         "t.detached, t.budget, t.owner "
         "FROM " +
         std::string(tasks) + " JOIN contexts c ON c.context_key = t.context_key " + std::string(rest);
}

TaskRow row_of(const Query& query) {
  TaskRow row;
  task::TaskHead& head = row.head;
  head.key = {query.integer(0)};
  head.id = {query.text(1)};
  head.agent = {query.text(2)};
  head.caller = {query.text(3)};
  row.alone = query.integer(4) == 0;
  head.context_key = row.alone ? own_context_key(head.key) : task::ContextKey{query.integer(4)};
  head.context = row.alone ? own_context(head.id) : task::ContextId{query.text(5)};
  head.parent = {query.integer(6)};
  head.version = {query.integer(7)};
  const auto state = task::state_named(query.text(8));
  if (!state) throw damaged_row("unknown state");
  head.state = *state;
  head.last_event = {query.integer(9)};
  head.turn = {query.integer(10)};
  head.turn_state = turn_state_named(query.text(11));
  head.attempt = query.small(12);
  head.turn_message = {query.integer(13)};
  head.waiting_messages = query.small(14);
  head.cancel_requested = query.truth(15);
  head.ask = query.text(16);
  head.artifact_count = query.small(17);
  head.status_event = {query.integer(18)};
  head.message_count = query.small(19);
  head.status_at = base::from_ms(query.integer(20));
  head.origin = static_cast<task::ProtocolVersion>(query.small(21));
  row.indexed = query.truth(22);
  head.created = base::from_ms(query.integer(23));
  head.bytes = static_cast<std::size_t>(query.integer(24));
  head.hidden = query.truth(25);
  head.turn_begin = {query.integer(26)};
  head.awaited = query.small(27);
  head.waits.open_max = query.small(28);
  head.waits.on_failure = query.truth(29);
  if (!query.is_null(30)) head.waits.until = base::from_ms(query.integer(30));
  head.child_failed = query.truth(31);
  head.tokens = query.integer(32);
  head.children = query.integer(33);
  head.detached = query.truth(34);
  if (!query.is_null(35))
    head.budget = std::make_shared<const task::Budget>(codec::decode_budget(query.text(35)));
  row.owner = {query.integer(36)};
  return row;
}

std::vector<task::TaskHead> all_of(Query& query) {
  std::vector<task::TaskHead> heads;
  while (query.step()) heads.push_back(std::move(row_of(query).head));
  return heads;
}

std::int64_t since_in(const task::ListFilter& filter) {
  return filter.status_since ? base::to_ms(*filter.status_since) : std::numeric_limits<std::int64_t>::min();
}

// Returns the name of the filter's state; empty if any state passes.
std::string state_in(const task::ListFilter& filter) {
  return std::string(filter.state ? task::name_of(*filter.state) : "");
}

// The statements of a list, for the tasks at rest or for those with a turn. Each names its index, because
// with another index SQLite would sort all tasks or read all their rows.
struct Listing {
  Listing(const std::string& tasks, const std::string& whose) {
    const std::string chosen = "WHERE " + whose + " AND t.status_ms >= ? AND (? = '' OR t.state = ?) ";
    count = "SELECT count(*) FROM " + tasks + " " + chosen;
    page = select_heads(chosen +
                            "AND (t.status_ms, t.public_id) < (?, ?) "
                            "ORDER BY t.status_ms DESC, t.public_id DESC LIMIT ?",
                        tasks);
  }

  template <class... Owner>
  std::int64_t total(Connection& connection, const task::ListFilter& filter, const Owner&... owner) const {
    const std::string state = state_in(filter);
    Query query = connection.query(count.c_str(), owner..., since_in(filter), state, state);
    return query.step() ? query.integer(0) : 0;
  }

  template <class... Owner>
  std::vector<task::TaskHead> heads(Connection& connection, const task::ListFilter& filter,
                                    const Owner&... owner) const {
    const std::string state = state_in(filter);
    const std::int64_t before =
        filter.after ? base::to_ms(filter.after->status_at) : std::numeric_limits<std::int64_t>::max();
    const std::string before_id = filter.after ? filter.after->id.value : "";
    Query query = connection.query(page.c_str(), owner..., since_in(filter), state, state, before, before_id,
                                   std::max(filter.limit, 0));
    return all_of(query);
  }

 private:
  std::string count, page;
};

// Merges two lists in list order.
std::vector<task::TaskHead> merged(std::vector<task::TaskHead> resting, std::vector<task::TaskHead> busy,
                                   int limit) {
  const auto place = [](const task::TaskHead& head) { return std::tie(head.status_at, head.id); };
  std::vector<task::TaskHead> all;
  all.reserve(resting.size() + busy.size());
  std::ranges::merge(std::make_move_iterator(resting.begin()), std::make_move_iterator(resting.end()),
                     std::make_move_iterator(busy.begin()), std::make_move_iterator(busy.end()),
                     std::back_inserter(all),
                     [&](const task::TaskHead& a, const task::TaskHead& b) { return place(a) > place(b); });
  all.resize(std::min(all.size(), static_cast<std::size_t>(std::max(limit, 0))));
  return all;
}

// The number of the caller's tasks at rest, in the filter's state or any.
std::int64_t resting_total(Connection& connection, const task::ListFilter& filter) {
  const std::string state = state_in(filter);
  Query query = connection.query(
      "SELECT sum(tasks) FROM task_totals WHERE agent = ? AND caller = ? AND (? = '' OR state = ?)",
      filter.agent, filter.caller, state, state);
  return query.step() ? query.integer(0) : 0;
}

// BATON_STAMP computes stamp_of(). BATON_GUARDED is for PostgreSQL's sets (store/postgres/lane/sets.h): a row
// with another stamp fails the group. SQLite needs no guard, because its only writer knows each row's state.
#define BATON_GUARDED "/* guarded */ "
#define BATON_STAMP "version + last_event + CASE WHEN context_key = 0 THEN 0 ELSE 1 END"

template <class... Status>
void update(Connection& connection, const char* sql, const TaskRow& row, std::int64_t stamp,
            const Status&... status) {
  const task::TaskHead& head = row.head;
  connection.run(sql, head.key, head.version, head.last_event, head.turn, name_of(head.turn_state),
                 head.attempt, head.turn_message, head.waiting_messages, head.cancel_requested, head.ask,
                 head.artifact_count, head.message_count, static_cast<std::int64_t>(head.bytes),
                 head.turn_begin, head.awaited, row.owner, stamp, status...);
}

}  // namespace

std::optional<TaskRow> find_head(Connection& connection, task::TaskKey key) {
  static const std::string kSql = select_heads("WHERE t.task_key = ?");
  Query query = connection.query(kSql.c_str(), key);
  if (!query.step()) return std::nullopt;
  return row_of(query);
}

std::optional<TaskRow> find_head(Connection& connection, const task::TaskRef& ref) {
  static const std::string kSql = select_heads("WHERE t.agent = ? AND t.caller = ? AND t.public_id = ?");
  Query query = connection.query(kSql.c_str(), ref.agent, ref.caller, ref.id);
  if (!query.step()) return std::nullopt;
  return row_of(query);
}

bool task_exists(Connection& connection, task::TaskKey key) {
  return connection.query("SELECT 1 FROM tasks WHERE task_key = ?", key).step();
}

std::vector<task::TaskHead> open_heads(Connection& connection, TaskStore::Open which, task::TaskKey key,
                                       int limit, NodeId node) {
  // The conditions match the partial indexes tasks_unfinished and tasks_open_children. "+ 0" is for
  // PostgreSQL, which has no INDEXED BY: because of the limit it would otherwise read all tasks in the order
  // of their keys.
  static const std::string kUnfinished = select_heads(
      "WHERE t.turn_state <> 'none' AND t.owner = ? AND t.task_key + 0 > ? "
      "ORDER BY t.task_key + 0 LIMIT ?",
      "tasks t INDEXED BY tasks_unfinished");
  static const std::string kChildren = select_heads(
      "WHERE t.parent_key = ? AND t.state NOT IN ('completed', 'canceled', 'failed', 'rejected') "
      "AND t.detached = 0 ORDER BY t.task_key + 0 LIMIT ?",
      "tasks t INDEXED BY tasks_open_children");
  static const std::string kOrphans = select_heads(
      "JOIN tasks p ON p.task_key = t.parent_key "
      "WHERE t.parent_key IS NOT NULL AND t.state NOT IN ('completed', 'canceled', 'failed', 'rejected') "
      "AND p.state IN ('completed', 'canceled', 'failed', 'rejected') AND t.detached = 0 "
      "AND t.task_key + 0 > ? ORDER BY t.task_key + 0 LIMIT ?",
      "tasks t INDEXED BY tasks_open_children");
  if (which == TaskStore::Open::children) {
    Query query = connection.query(kChildren.c_str(), key, limit);
    return all_of(query);
  }
  if (which == TaskStore::Open::orphans) {
    Query query = connection.query(kOrphans.c_str(), key, limit);
    return all_of(query);
  }
  Query query = connection.query(kUnfinished.c_str(), node, key, limit);
  return all_of(query);
}

std::vector<task::TaskHead> heads_after(Connection& connection, task::TaskKey after, int limit) {
  static const std::string kAfter = select_heads("WHERE t.task_key > ? ORDER BY t.task_key LIMIT ?");
  Query query = connection.query(kAfter.c_str(), after, limit);
  return all_of(query);
}

ListPage list_heads(Connection& connection, const task::ListFilter& filter) {
  static const Listing kResting("tasks t INDEXED BY tasks_listed",
                                "t.turn_state = 'none' AND t.hidden = 0 AND t.agent = ? AND t.caller = ?");
  static const Listing kBusy("tasks t INDEXED BY tasks_unfinished",
                             "t.turn_state <> 'none' AND t.hidden = 0 AND t.agent = ? AND t.caller = ?");
  static const Listing kRestingThere("tasks t INDEXED BY tasks_in_context",
                                     "t.turn_state = 'none' AND t.hidden = 0 AND t.context_key = ? AND "
                                     "t.context_key <> 0");
  static const Listing kBusyThere(
      "tasks t INDEXED BY tasks_unfinished",
      "t.turn_state <> 'none' AND t.hidden = 0 AND t.agent = ? AND t.caller = ? AND t.context_key = ?");
  static const Listing kAlone("tasks t", "t.task_key = ? AND t.hidden = 0");
  ListPage page;
  if (filter.context.empty()) {
    const std::int64_t resting = filter.status_since
                                     ? kResting.total(connection, filter, filter.agent, filter.caller)
                                     : resting_total(connection, filter);
    page.total = resting + kBusy.total(connection, filter, filter.agent, filter.caller);
    page.heads = merged(kResting.heads(connection, filter, filter.agent, filter.caller),
                        kBusy.heads(connection, filter, filter.agent, filter.caller), filter.limit);
    return page;
  }
  const ContextRow found = find_context(connection, filter.agent, filter.caller, filter.context);
  const task::ContextKey context = found.key;
  if (!context) return page;
  if (!found.has_rows) {
    const task::TaskKey alone = task_of_own_key(context);
    page.total = kAlone.total(connection, filter, alone);
    page.heads = kAlone.heads(connection, filter, alone);
    return page;
  }
  page.total = kRestingThere.total(connection, filter, context) +
               kBusyThere.total(connection, filter, filter.agent, filter.caller, context);
  page.heads =
      merged(kRestingThere.heads(connection, filter, context),
             kBusyThere.heads(connection, filter, filter.agent, filter.caller, context), filter.limit);
  return page;
}

void insert_task(Connection& connection, const TaskRow& row, const task::NewTask& task,
                 const std::string& trace) {
  static constexpr char kSql[] =
      "INSERT INTO tasks (agent, caller, public_id, context_key, parent_key, origin, created_ms, version, "
      "state, status_event, last_event, turn, turn_state, attempt, turn_message, waiting_messages, "
      "cancel_requested, ask, artifact_count, message_count, status_ms, indexed, bytes, hidden, turn_begin, "
      "awaited, detached, task_key, trace, owner) "
      "VALUES (?1, ?2, ?3, ?4, nullif(?5, 0), ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
      "?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";
  const task::TaskHead& head = row.head;
  connection.run(kSql, task.agent, task.caller, task.id, row.alone ? task::ContextKey() : head.context_key,
                 task.parent, static_cast<int>(task.origin), base::to_ms(head.created), head.version,
                 std::string(task::name_of(head.state)), head.status_event, head.last_event, head.turn,
                 name_of(head.turn_state), head.attempt, head.turn_message, head.waiting_messages,
                 head.cancel_requested, head.ask, head.artifact_count, head.message_count,
                 base::to_ms(head.status_at), row.indexed, static_cast<std::int64_t>(head.bytes), head.hidden,
                 head.turn_begin, head.awaited, head.detached, head.key, trace, row.owner);
  if (!task.metadata.empty()) {
    connection.run("INSERT INTO task_metadata (task_key, metadata) VALUES (?, ?)", head.key,
                   task.metadata.text);
  }
  if (!task.schedule.empty()) {
    connection.run("INSERT INTO scheduled_tasks (task_key, agent, schedule) VALUES (?, ?, ?)", head.key,
                   task.agent, task.schedule);
  }
}

void update_head(Connection& connection, const TaskRow& row, std::int64_t stamp) {
  static constexpr char kSql[] = BATON_GUARDED
      "UPDATE tasks SET version = ?2, last_event = ?3, turn = ?4, turn_state = ?5, attempt = ?6, "
      "turn_message = ?7, waiting_messages = ?8, cancel_requested = ?9, ask = ?10, artifact_count = ?11, "
      "message_count = ?12, bytes = ?13, turn_begin = ?14, awaited = ?15, owner = ?16 WHERE task_key = ?1 "
      "AND " BATON_STAMP " = ?17";
  update(connection, kSql, row, stamp);
}

void update_head_and_status(Connection& connection, const TaskRow& row, std::int64_t stamp) {
  static constexpr char kSql[] = BATON_GUARDED
      "UPDATE tasks SET version = ?2, last_event = ?3, turn = ?4, turn_state = ?5, attempt = ?6, "
      "turn_message = ?7, waiting_messages = ?8, cancel_requested = ?9, ask = ?10, artifact_count = ?11, "
      "message_count = ?12, bytes = ?13, turn_begin = ?14, awaited = ?15, owner = ?16, state = ?18, "
      "status_event = ?19, status_ms = ?20 WHERE task_key = ?1 AND " BATON_STAMP " = ?17";
  update(connection, kSql, row, stamp, std::string(task::name_of(row.head.state)), row.head.status_event,
         base::to_ms(row.head.status_at));
}

void update_waits(Connection& connection, const TaskRow& row) {
  const task::TaskHead& head = row.head;
  connection.run(
      "UPDATE tasks SET waits_open_max = ?2, waits_on_failure = ?3, waits_until_ms = CASE WHEN ?4 <> 0 THEN "
      "?5 END, "
      "child_failed = ?6 WHERE task_key = ?1",
      head.key, head.waits.open_max, head.waits.on_failure, head.waits.until.has_value(),
      base::to_ms(head.waits.until.value_or(base::Timestamp())), head.child_failed);
}

void update_usage(Connection& connection, const TaskRow& row) {
  connection.run("UPDATE tasks SET tokens = ?2, children = ?3 WHERE task_key = ?1", row.head.key,
                 row.head.tokens, row.head.children);
}

void update_budget(Connection& connection, const TaskRow& row) {
  connection.run("UPDATE tasks SET budget = ?2 WHERE task_key = ?1", row.head.key,
                 codec::encode_budget(*row.head.budget));
}

void set_indexed(Connection& connection, task::TaskKey key) {
  connection.run("UPDATE tasks SET indexed = 1 WHERE task_key = ?", key);
}

void update_head_ends(Connection& connection, const TaskRow& row, std::int64_t stamp) {
  connection.run(BATON_GUARDED
                 "UPDATE tasks SET last_event = ?2, artifact_count = ?3, bytes = ?4 "
                 "WHERE task_key = ?1 AND " BATON_STAMP " = ?5",
                 row.head.key, row.head.last_event, row.head.artifact_count,
                 static_cast<std::int64_t>(row.head.bytes), stamp);
}

void set_owner(Connection& connection, const TaskRow& row, std::int64_t stamp) {
  connection.run(BATON_GUARDED
                 "UPDATE tasks SET version = ?2, owner = ?3 WHERE task_key = ?1 AND " BATON_STAMP " = ?4",
                 row.head.key, row.head.version, row.owner, stamp);
}

void set_context(Connection& connection, const task::TaskHead& head, std::int64_t stamp) {
  connection.run(BATON_GUARDED "UPDATE tasks SET context_key = ?2 WHERE task_key = ?1 AND " BATON_STAMP
                               " = ?3",
                 head.key, head.context_key, stamp);
}

void delete_head(Connection& connection, const TaskRow& row) {
  const std::int64_t deleted =
      connection.run_counted("DELETE FROM tasks WHERE task_key = ?1 AND " BATON_STAMP " = ?2", row.head.key,
                             stamp_of(row.head, row.alone));
  if (deleted == 0) throw Failure(base::ErrorCode::raced, "a task has changed that was to be removed");
}

void show_head(Connection& connection, task::TaskKey key) {
  connection.run("UPDATE tasks SET hidden = 0 WHERE task_key = ?", key);
}

}  // namespace baton::store::sql
