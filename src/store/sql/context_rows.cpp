#include "store/sql/context_rows.h"

#include <algorithm>
#include <map>
#include <vector>

#include "store/log_reads.h"
#include "store/own_context.h"
#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"

namespace baton::store::sql {
namespace {

using base::fail;
using base::Result;

// Reads the context of a task that is alone in it from the task's log, which has all of it.
Result<ContextRecord> read_alone(Connection& connection, task::TaskKey alone, Conversation conversation) {
  const auto log = read_log(connection, alone);
  if (!log) return fail(log.error());
  ContextRecord record;
  for (const task::EventPtr& event : *log) {
    if (const std::string* id = task::taken_id_in(event->body)) record.call_ids.push_back(*id);
  }
  for (auto event = log->rbegin(); event != log->rend(); ++event) conversation.add(alone, **event);
  record.said = std::move(conversation).oldest_first();
  return record;
}

Result<void> gather(Connection& connection, task::ContextKey context, Conversation& conversation) {
  Query places = connection.scan(
      "SELECT task_key, number FROM conversation WHERE context_key = ? "
      "ORDER BY at_ms DESC, task_key DESC, number DESC",
      context);
  std::map<task::TaskKey, task::EventNumber> oldest;  // the oldest event that was read of each log
  while (!conversation.is_full() && places.step()) {
    const task::TaskKey key{places.integer(0)};
    const task::EventNumber number{places.integer(1)};
    const auto end = oldest.try_emplace(key, task::EventNumber{task::kLogEnd.value + 1}).first;
    LogQuery log = LogQuery::conversation_back(connection, key, {number, {end->second.value - 1}});
    end->second = std::min(end->second, number);
    while (true) {
      const auto event = log.next();
      if (!event) return fail(event.error());
      if (!*event) break;
      conversation.add(key, **event);
    }
  }
  return {};
}

}  // namespace

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

void insert_context(Connection& connection, const task::TaskHead& head) {
  connection.run("INSERT INTO contexts (context_key, agent, caller, public_id) VALUES (?, ?, ?, ?)",
                 head.context_key, head.agent, head.caller, head.context);
}

void insert_in_context(Connection& connection, const task::TaskHead& head, task::EventNumber number,
                       base::Timestamp at, const task::EventBody& body) {
  if (speaks(body)) {
    connection.run("INSERT INTO conversation (context_key, at_ms, task_key, number) VALUES (?, ?, ?, ?)",
                   head.context_key, base::to_ms(at), head.key, number);
  }
  if (const std::string* id = task::taken_id_in(body)) {
    connection.run("INSERT INTO calls (context_key, call_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
                   head.context_key, *id);
  }
}

void write_down_context(Connection& connection, const task::TaskHead& head,
                        std::span<const task::EventPtr> log, std::int64_t stamp) {
  insert_context(connection, head);
  set_context(connection, head, stamp);
  for (const task::EventPtr& event : log) {
    insert_in_context(connection, head, event->number, event->at, event->body);
  }
}

Result<ContextRecord> read_context(Connection& connection, task::ContextKey context, task::TaskKey task,
                                   task::EventNumber unanswered, int limit) {
  Conversation conversation(task, unanswered, limit);
  if (const task::TaskKey alone = find_alone(connection, context)) {
    return read_alone(connection, alone, std::move(conversation));
  }
  if (auto gathered = gather(connection, context, conversation); !gathered) return fail(gathered.error());
  ContextRecord record{std::move(conversation).oldest_first(), {}};
  Query calls = connection.query("SELECT call_id FROM calls WHERE context_key = ?", context);
  while (calls.step()) record.call_ids.push_back(calls.text(0));
  return record;
}

}  // namespace baton::store::sql
