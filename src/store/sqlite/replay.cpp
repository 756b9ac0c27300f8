#include "store/sqlite/replay.h"

#include <vector>

#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/sqlite_store.h"
#include "task/short_id.h"

namespace baton::store::sqlite {
namespace {

using namespace sql;
using base::ErrorCode;
using base::fail;
using base::Result;

Result<task::TaskKey> find_task(Connection& connection, const ReplayChoice& choice) {
  std::vector<task::TaskKey> whole, parts;
  Query query =
      connection.query("SELECT task_key, public_id FROM tasks WHERE ?1 = '' OR agent = ?1", choice.agent);
  while (query.step()) {
    const std::string id = query.text(1);
    const task::TaskKey key{query.integer(0)};
    if (id == choice.task) whole.push_back(key);
    if (choice.task.size() >= task::kIdPartMin && task::is_named_by(id, choice.task)) parts.push_back(key);
  }
  const auto& meant = whole.empty() ? parts : whole;
  if (meant.empty()) return fail(ErrorCode::not_found, "task not found in the database");
  if (meant.size() == 1) return meant.front();
  return fail(ErrorCode::invalid_argument, whole.empty()
                                               ? "several tasks' ids match this part: give more of the id"
                                               : "several tasks have this id: name the agent with --agent");
}

// Returns the caller's messages, which began the task's turns.
std::vector<task::EventPtr> messages_in(const std::vector<task::EventPtr>& log) {
  std::vector<task::EventPtr> found;
  for (const task::EventPtr& event : log) {
    const auto* added = std::get_if<task::MessageAdded>(&event->body);
    if (added != nullptr && added->message.role == task::Role::user && !added->for_child)
      found.push_back(event);
  }
  return found;
}

// Ensures that only the prepared turn can begin, and that no webhook is called.
void silence(Connection& connection, task::TaskKey task) {
  for (const char* all : {"DELETE FROM deliveries", "DELETE FROM push_configs", "DELETE FROM agent_controls",
                          "DELETE FROM bulk_jobs", "DELETE FROM bulk_items", "DELETE FROM crashed_turns",
                          "DELETE FROM api_keys",
                          // Without sends, children are created anew. Without parents, no task has children
                          // to cancel.
                          "DELETE FROM sends", "DELETE FROM send_slices", "DELETE FROM send_slice_pages",
                          "UPDATE tasks SET parent_key = NULL WHERE parent_key IS NOT NULL"})
    connection.run(all);
  connection.run("UPDATE tasks SET turn_state = 'none' WHERE task_key <> ?", task);
}

void forget_what_followed(Connection& connection, const task::TaskHead& head, const task::Event& message) {
  const std::int64_t last = event_key(head.key, message.number), end = event_key(head.key, task::kLogEnd);
  connection.run("DELETE FROM events WHERE event_key > ? AND event_key <= ?", last, end);
  connection.run("DELETE FROM turn_requests WHERE task_key = ? AND number > ?", head.key, message.number);
  // A log without rows in the index tables is read completely, so its index rows can be deleted.
  connection.run("DELETE FROM landmarks WHERE event_key > ? AND event_key <= ?", event_key(head.key, {0}),
                 end);
  connection.run("DELETE FROM artifacts WHERE task_key = ?", head.key);
  connection.run(
      "DELETE FROM conversation WHERE context_key = ? AND (at_ms > ? OR (task_key = ? AND number > ?))",
      head.context_key, base::to_ms(message.at), head.key, message.number);
}

// Gives the task to the anonymous caller, because the server that will run it has no named callers.
void hand_over(Connection& connection, const task::TaskHead& head) {
  const task::Caller& nobody = task::kAnonymous;
  if (head.caller == nobody) return;
  connection.run("UPDATE OR REPLACE tasks SET caller = ? WHERE task_key = ?", nobody, head.key);
  connection.run("UPDATE OR REPLACE contexts SET caller = ?1 WHERE context_key = ?2 AND context_key <> 0",
                 nobody, head.context_key);
}

void queue_turn(Connection& connection, task::TaskKey task, const task::Event& message,
                task::EventNumber status) {
  connection.run(
      "UPDATE tasks SET state = 'submitted', status_event = ?2, last_event = ?3, turn = turn + 1, turn_state "
      "= 'queued', "
      "attempt = 0, turn_message = ?3, turn_begin = ?3, awaited = 0, waiting_messages = 0, cancel_requested "
      "= 0, "
      "ask = '', indexed = 0, hidden = 0, waits_open_max = 0, waits_on_failure = 0, waits_until_ms = NULL, "
      "child_failed = 0, detached = 0, parent_key = NULL, tokens = 0, children = 0 WHERE task_key = ?1",
      task, status, message.number);
}

Result<ReplayedTurn> cut(Connection& connection, const ReplayChoice& choice, task::TaskKey& key) {
  const auto found = find_task(connection, choice);
  if (!found) return fail(found.error());
  key = *found;
  const auto row = find_head(connection, key);
  const auto log = read_log(connection, key);
  if (!log) return fail(log.error());
  const auto messages = messages_in(*log);
  const int turns = static_cast<int>(messages.size());
  const int turn = choice.turn == 0 ? turns : choice.turn;
  if (!row || turn < 1 || turn > turns)
    return fail(ErrorCode::invalid_argument, "the task has " + std::to_string(turns) + " turns");
  const task::Event& message = *messages[static_cast<std::size_t>(turn - 1)];
  task::EventNumber status;
  for (const task::EventPtr& event : *log) {
    if (event->number <= message.number && task::status_in(*event) != nullptr) status = event->number;
  }
  silence(connection, key);
  forget_what_followed(connection, row->head, message);
  hand_over(connection, row->head);
  queue_turn(connection, key, message, status);
  return ReplayedTurn{row->head.id, row->head.agent, message.number, turn, turns};
}

// Recomputes the values that depend on the log, which is shorter now.
Result<void> count_again(const std::string& copy, task::TaskKey key, const base::Clock& clock) {
  SqliteOptions options;
  options.path = copy;
  const auto store = SqliteStore::open(options, clock);
  if (!store) return fail(store.error());
  const auto task = (*store)->read(key, {std::nullopt, true});
  if (!task) return fail(task.error());
  const auto artifacts = static_cast<std::int64_t>(task->artifacts.size());
  const auto messages = static_cast<std::int64_t>(task->history.size());
  return catching("counting what a task has", [&]() -> Result<void> {
    Connection(copy, Connection::Mode::write)
        .run("UPDATE tasks SET artifact_count = ?, message_count = ? WHERE task_key = ?", artifacts, messages,
             key);
    return {};
  });
}

}  // namespace

Result<ReplayedTurn> prepare_replay(const std::string& copy, const ReplayChoice& choice,
                                    const base::Clock& clock) {
  task::TaskKey key;
  auto prepared = catching("preparing a turn", [&]() -> Result<ReplayedTurn> {
    Connection connection(copy, Connection::Mode::write);
    connection.begin();
    auto made = cut(connection, choice, key);
    made ? connection.commit() : connection.rollback();
    return made;
  });
  if (!prepared) return prepared;
  if (const auto counted = count_again(copy, key, clock); !counted) return fail(counted.error());
  return prepared;
}

}  // namespace baton::store::sqlite
