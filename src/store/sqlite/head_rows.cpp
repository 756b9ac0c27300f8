#include "store/sqlite/head_rows.h"

#include <array>
#include <string>
#include <string_view>

namespace baton::store::sqlite {
namespace {

constexpr std::array<std::string_view, 3> kTurnStates{"none", "queued", "running"};

std::string name_of(TurnState state) {
  return std::string(kTurnStates[static_cast<std::size_t>(state)]);
}

TurnState turn_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kTurnStates.size(); ++i) {
    if (kTurnStates[i] == name) return static_cast<TurnState>(i);
  }
  throw SQLite::Exception("unknown turn_state");
}

std::string select_heads(std::string_view rest) {
  return "SELECT t.task_key, t.public_id, t.agent, t.caller, t.context_key, c.public_id, t.parent_key, "
         "t.version, "
         "t.state, t.last_event, t.turn, t.turn_state, t.attempt, t.turn_message, t.waiting_messages, "
         "t.cancel_requested, t.ask, t.artifact_count, t.status_event, t.message_count "
         "FROM tasks t JOIN contexts c ON c.context_key = t.context_key " +
         std::string(rest);
}

HeadRow row_of(const Query& query) {
  HeadRow row;
  TaskHead& head = row.head;
  head.key = {query.integer(0)};
  head.id = {query.text(1)};
  head.agent = {query.text(2)};
  head.caller = {query.text(3)};
  head.context_key = {query.integer(4)};
  head.context = {query.text(5)};
  head.parent = {query.integer(6)};
  head.version = {query.integer(7)};
  const auto state = task::state_named(query.text(8));
  if (!state) throw SQLite::Exception("unknown state");
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
  row.status_event = {query.integer(18)};
  head.message_count = query.small(19);
  return row;
}

std::vector<TaskHead> all_of(Query& query) {
  std::vector<TaskHead> heads;
  while (query.step()) heads.push_back(std::move(row_of(query).head));
  return heads;
}

}  // namespace

std::optional<HeadRow> find_head(Connection& connection, task::TaskKey key) {
  static const std::string kSql = select_heads("WHERE t.task_key = ?");
  Query query = connection.query(kSql.c_str(), key);
  if (!query.step()) return std::nullopt;
  return row_of(query);
}

std::optional<HeadRow> find_head(Connection& connection, const task::TaskRef& ref) {
  static const std::string kSql = select_heads("WHERE t.agent = ? AND t.caller = ? AND t.public_id = ?");
  Query query = connection.query(kSql.c_str(), ref.agent, ref.caller, ref.id);
  if (!query.step()) return std::nullopt;
  return row_of(query);
}

bool task_exists(Connection& connection, task::TaskKey key) {
  return connection.query("SELECT 1 FROM tasks WHERE task_key = ?", key).step();
}

std::vector<TaskHead> unfinished_heads(Connection& connection, task::TaskKey after, int limit) {
  static const std::string kSql =
      select_heads("WHERE t.turn_state <> 'none' AND t.task_key > ? ORDER BY t.task_key LIMIT ?");
  Query query = connection.query(kSql.c_str(), after, limit);
  return all_of(query);
}

std::vector<TaskHead> open_child_heads(Connection& connection, task::TaskKey parent) {
  static const std::string kSql = select_heads(
      "WHERE t.parent_key = ? AND t.state NOT IN ('completed', 'canceled', 'failed', 'rejected') "
      "ORDER BY t.task_key");
  Query query = connection.query(kSql.c_str(), parent);
  return all_of(query);
}

std::vector<TaskHead> orphan_heads(Connection& connection) {
  // The condition is that of the index tasks_open_children: the search is as long as there are open children.
  static const std::string kSql = select_heads(
      "JOIN tasks p ON p.task_key = t.parent_key "
      "WHERE t.parent_key IS NOT NULL AND t.state NOT IN ('completed', 'canceled', 'failed', 'rejected') "
      "AND p.state IN ('completed', 'canceled', 'failed', 'rejected') ORDER BY t.task_key");
  Query query = connection.query(kSql.c_str());
  return all_of(query);
}

task::ContextKey find_context(Connection& connection, const NewTask& task) {
  Query query =
      connection.query("SELECT context_key FROM contexts WHERE agent = ? AND caller = ? AND public_id = ?",
                       task.agent, task.caller, task.context);
  return query.step() ? task::ContextKey{query.integer(0)} : task::ContextKey{};
}

task::ContextKey insert_context(Connection& connection, const NewTask& task, base::Timestamp now) {
  connection.run("INSERT INTO contexts (agent, caller, public_id, created_ms) VALUES (?, ?, ?, ?)",
                 task.agent, task.caller, task.context, base::to_ms(now));
  return {connection.last_key()};
}

task::TaskKey insert_task(Connection& connection, const HeadRow& row, const NewTask& task,
                          base::Timestamp now) {
  static constexpr char kSql[] =
      "INSERT INTO tasks (agent, caller, public_id, context_key, parent_key, origin, trace, created_ms, "
      "updated_ms, version, state, status_event, last_event, turn, turn_state, attempt, turn_message, "
      "waiting_messages, cancel_requested, ask, artifact_count, message_count) "
      "VALUES (?1, ?2, ?3, ?4, nullif(?5, 0), ?6, ?7, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
      "?18, "
      "?19, ?20, ?21)";
  const TaskHead& head = row.head;
  connection.run(kSql, task.agent, task.caller, task.id, head.context_key, task.parent,
                 static_cast<int>(task.origin), task.trace, base::to_ms(now), head.version,
                 std::string(task::name_of(head.state)), row.status_event, head.last_event, head.turn,
                 name_of(head.turn_state), head.attempt, head.turn_message, head.waiting_messages,
                 head.cancel_requested, head.ask, head.artifact_count, head.message_count);
  const task::TaskKey key{connection.last_key()};
  if (!task.metadata.empty()) {
    connection.run("INSERT INTO task_metadata (task_key, metadata) VALUES (?, ?)", key, task.metadata.text);
  }
  return key;
}

void update_head(Connection& connection, const HeadRow& row, base::Timestamp now) {
  static constexpr char kSql[] =
      "UPDATE tasks SET updated_ms = ?2, version = ?3, state = ?4, status_event = ?5, last_event = ?6, turn "
      "= ?7, "
      "turn_state = ?8, attempt = ?9, turn_message = ?10, waiting_messages = ?11, cancel_requested = ?12, "
      "ask = ?13, artifact_count = ?14, message_count = ?15 WHERE task_key = ?1";
  const TaskHead& head = row.head;
  connection.run(kSql, head.key, base::to_ms(now), head.version, std::string(task::name_of(head.state)),
                 row.status_event, head.last_event, head.turn, name_of(head.turn_state), head.attempt,
                 head.turn_message, head.waiting_messages, head.cancel_requested, head.ask,
                 head.artifact_count, head.message_count);
}

void update_head_ends(Connection& connection, const HeadRow& row, base::Timestamp now) {
  connection.run("UPDATE tasks SET updated_ms = ?2, last_event = ?3, artifact_count = ?4 WHERE task_key = ?1",
                 row.head.key, base::to_ms(now), row.head.last_event, row.head.artifact_count);
}

}  // namespace baton::store::sqlite
