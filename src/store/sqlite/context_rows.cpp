#include "store/sqlite/context_rows.h"

#include <variant>
#include <vector>

#include "store/own_context.h"
#include "store/sqlite/index_rows.h"

namespace baton::store::sqlite {

task::TaskKey find_alone(Connection& connection, task::ContextKey context) {
  if (context.value >= 0) return {};
  const task::TaskKey key = task_of_own_key(context);
  Query query = connection.query("SELECT 1 FROM tasks WHERE task_key = ? AND context_key = 0", key);
  return query.step() ? key : task::TaskKey();
}

bool has_rows(Connection& connection, task::ContextKey context) {
  return connection.query("SELECT 1 FROM contexts WHERE context_key = ?", context).step();
}

ContextRow find_context(Connection& connection, const task::AgentName& agent, const task::Caller& caller,
                        const task::ContextId& id) {
  Query query = connection.query(
      "SELECT context_key FROM contexts WHERE agent = ? AND caller = ? AND public_id = ?", agent, caller, id);
  if (query.step()) return {{query.integer(0)}, true};
  const auto task = task_of_own_context(id);
  if (!task) return {};
  Query alone = connection.query(
      "SELECT task_key FROM tasks WHERE agent = ? AND caller = ? AND public_id = ? AND context_key = 0",
      agent, caller, *task);
  return alone.step() ? ContextRow{own_context_key({alone.integer(0)}), false} : ContextRow{};
}

task::ContextKey insert_context(Connection& connection, const task::TaskHead& head, base::Timestamp now) {
  connection.run(
      "INSERT INTO contexts (context_key, agent, caller, public_id, created_ms) "
      "VALUES (nullif(?, 0), ?, ?, ?, ?)",
      head.context_key, head.agent, head.caller, head.context, base::to_ms(now));
  return {connection.last_key()};
}

void insert_in_context(Connection& connection, const task::TaskHead& head, task::EventNumber number,
                       base::Timestamp at, const task::EventEffect& effect, const task::EventBody& body) {
  static constexpr char kSaid[] =
      "INSERT INTO conversation (context_key, at_ms, task_key, number, reply_ordinal) VALUES (?, ?, ?, ?, ?)";
  if (effect.said) connection.run(kSaid, head.context_key, base::to_ms(at), head.key, number, nullptr);
  if (effect.reply_begins) {
    connection.run(kSaid, head.context_key, base::to_ms(at), head.key, number, *effect.reply_begins);
  }
  if (const std::string* id = task::taken_id_in(body)) {
    connection.run("INSERT OR IGNORE INTO calls (context_key, call_id) VALUES (?, ?)", head.context_key, *id);
  }
}

void write_down_context(Connection& connection, const task::TaskHead& head,
                        std::span<const task::EventPtr> log) {
  insert_context(connection, head, log.empty() ? base::Timestamp() : log.front()->at);
  connection.run("UPDATE tasks SET context_key = ? WHERE task_key = ?", head.context_key, head.key);
  const std::vector<task::EventEffect> effects = effects_of(log);
  for (std::size_t i = 0; i < log.size(); ++i) {
    insert_in_context(connection, head, log[i]->number, log[i]->at, effects[i], log[i]->body);
  }
}

}  // namespace baton::store::sqlite
