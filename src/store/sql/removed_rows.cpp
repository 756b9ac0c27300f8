#include "store/sql/removed_rows.h"

#include <algorithm>
#include <utility>

#include "store/event_codec.h"
#include "store/sql/conversation_rows.h"
#include "store/sql/failure.h"
#include "store/sql/head_rows.h"
#include "store/sql/log_rows.h"

namespace baton::store::sql {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The approximate size of the log that one group deletes, which takes some milliseconds.
constexpr std::int64_t kRemovedBytesMax = 1 << 20;
constexpr std::int64_t kRemovedEventsMax = 2'000;

// While it exists, deleted data is overwritten.
class Overwriting {
 public:
  Overwriting(Connection& connection, bool on) : connection_(connection), on_(on) {
    if (on_) connection_.overwrite_deleted(true);
  }
  ~Overwriting() {
    if (on_) connection_.overwrite_deleted(false);
  }
  Overwriting(const Overwriting&) = delete;
  Overwriting& operator=(const Overwriting&) = delete;

 private:
  Connection& connection_;
  const bool on_;
};

bool has_children(Connection& connection, task::TaskKey key) {
  return connection.query("SELECT 1 FROM tasks WHERE parent_key = ? LIMIT 1", key).step();
}

bool delivers(Connection& connection, task::TaskKey key) {
  return connection
      .query(
          "SELECT 1 FROM push_configs c JOIN deliveries d ON d.config_key = c.config_key "
          "WHERE c.task_key = ? AND d.state = 'waiting' LIMIT 1",
          key)
      .step();
}

// Returns the key of the event that `events` others precede in the rest of a log; if there is none, the key
// after the log's last possible event.
std::int64_t event_key_at(Connection& connection, task::TaskKey key, std::int64_t events) {
  Query query = connection.query(
      "SELECT event_key FROM events WHERE event_key BETWEEN ? AND ? ORDER BY event_key LIMIT 1 OFFSET ?",
      event_key(key, {}), event_key(key, task::kLogEnd), events);
  return query.step() ? query.integer(0) : event_key(key, task::kLogEnd) + 1;
}

// Deletes the first `events` events of the rest of a log. Returns whether more are left.
bool delete_events(Connection& connection, task::TaskKey key, std::int64_t events) {
  const std::int64_t end = event_key_at(connection, key, events);
  connection.run("DELETE FROM landmarks WHERE event_key >= ? AND event_key < ?", event_key(key, {}), end);
  connection.run("DELETE FROM events WHERE event_key >= ? AND event_key < ?", event_key(key, {}), end);
  return end <= event_key(key, task::kLogEnd);
}

// Deletes the ids of the task's calls too, because agents no longer need them.
Result<void> delete_calls(Connection& connection, const task::TaskHead& head) {
  Query query =
      connection.query("SELECT kind, body FROM events WHERE event_key BETWEEN ? AND ? AND kind IN (1, 5)",
                       event_key(head.key, {}), event_key(head.key, task::kLogEnd));
  std::vector<std::string> ids;
  while (query.step()) {
    const auto body = codec::decode(query.small(0), query.text(1));
    if (!body) return fail(body.error());
    if (const std::string* id = task::taken_id_in(*body)) ids.push_back(*id);
  }
  for (const std::string& id : ids) {
    connection.run("DELETE FROM calls WHERE context_key = ? AND call_id = ?", head.context_key, id);
  }
  return {};
}

bool is_context_in_use(Connection& connection, task::ContextKey context) {
  return connection.query("SELECT 1 FROM conversation WHERE context_key = ? LIMIT 1", context).step() ||
         connection.query("SELECT 1 FROM tasks WHERE context_key = ? AND context_key <> 0 LIMIT 1", context)
             .step();
}

// Deletes the task's rows of `conversation`. The times of a log are not in order if the clock was set back,
// or if nodes whose clocks differ have written to it.
void delete_conversation(Connection& connection, const task::TaskHead& head) {
  std::int64_t from = 0, until = 0;
  {
    Query times =
        connection.query("SELECT min(at_ms), max(at_ms) FROM events WHERE event_key BETWEEN ? AND ?",
                         event_key(head.key, {}), event_key(head.key, task::kLogEnd));
    if (!times.step() || times.is_null(0)) return;
    from = times.integer(0);
    until = times.integer(1);
  }
  connection.run("DELETE FROM conversation WHERE context_key = ? AND at_ms BETWEEN ? AND ? AND task_key = ?",
                 head.context_key, from, until, head.key);
}

// Call while the task's log still exists and its row is deleted.
Result<void> leave_context(WriteState& state, const TaskRow& row) {
  Connection& connection = state.connection();
  const task::TaskHead& head = row.head;
  delete_conversation(connection, head);
  state.claim_context(head.context_key);
  if (is_context_in_use(connection, head.context_key)) return delete_calls(connection, head);
  connection.run("DELETE FROM calls WHERE context_key = ?", head.context_key);
  connection.run("DELETE FROM contexts WHERE context_key = ?", head.context_key);
  delete_title(connection, head);
  return {};
}

void delete_webhooks(WriteState& state, task::TaskKey key) {
  Connection& connection = state.connection();
  state.change_deliveries();
  connection.run(
      "DELETE FROM deliveries WHERE config_key IN (SELECT config_key FROM push_configs WHERE task_key = ?)",
      key);
  connection.run("DELETE FROM push_configs WHERE task_key = ?", key);
}

bool may_go(Connection& connection, const TaskRow& row, const Removal::One& one, bool erases) {
  const task::TaskHead& head = row.head;
  if (head.version != one.version || !has_ended(head) || has_children(connection, one.task)) return false;
  // The parent may have been reopened since the decision.
  const auto parent = head.parent ? find_head(connection, head.parent) : std::nullopt;
  return (!parent || has_ended(parent->head)) && (erases || !delivers(connection, one.task));
}

// Deletes all data of the task except its log.
Result<void> delete_task(WriteState& state, const TaskRow& row) {
  Connection& connection = state.connection();
  const task::TaskKey key = row.head.key;
  state.count(row.head, -1);
  delete_webhooks(state, key);
  connection.run("DELETE FROM turn_requests WHERE task_key = ?", key);
  connection.run("DELETE FROM scheduled_tasks WHERE task_key = ?", key);
  connection.run("DELETE FROM task_metadata WHERE task_key = ?", key);
  connection.run("DELETE FROM crashed_turns WHERE task_key = ?", key);
  if (row.indexed) connection.run("DELETE FROM artifacts WHERE task_key = ?", key);
  delete_head(connection, row);
  if (!row.alone) return leave_context(state, row);
  delete_title(connection, row.head);
  return {};
}

// Deletes a further part of one removed log. Returns false if there is no such log.
bool tidy_log(Connection& connection) {
  Query query = connection.query("SELECT task_key, erased FROM removed_logs LIMIT 1");
  if (!query.step()) return false;
  const task::TaskKey key{query.integer(0)};
  const Overwriting overwriting(connection, query.truth(1));
  std::int64_t events = 0;
  {
    // Deletes fewer events if they are large.
    Query sizes = connection.query(
        "SELECT length(body) FROM events WHERE event_key BETWEEN ? AND ? ORDER BY event_key LIMIT ?",
        event_key(key, {}), event_key(key, task::kLogEnd), kRemovedEventsMax);
    for (std::int64_t bytes = 0; bytes < kRemovedBytesMax && sizes.step(); ++events)
      bytes += sizes.integer(0);
  }
  if (!delete_events(connection, key, std::max<std::int64_t>(events, 1))) {
    connection.run("DELETE FROM removed_logs WHERE task_key = ?", key);
  }
  return true;
}

}  // namespace

// Searches by bisection: keys are in the order of time, so this needs no index.
task::TaskKey last_made(Connection& connection, base::Timestamp time) {
  std::int64_t low = 0, high = 0;  // `low`, unless 0, was created by `time`; no task above `high` was
  {
    Query newest = connection.query("SELECT max(task_key) FROM tasks");
    if (newest.step()) high = newest.integer(0);
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2 + 1;
    Query query = connection.query(
        "SELECT task_key, created_ms FROM tasks WHERE task_key < ? ORDER BY task_key DESC LIMIT 1",
        middle + 1);
    const std::int64_t key = query.step() ? query.integer(0) : 0;
    if (key <= low) {
      low = middle;
    } else if (query.integer(1) <= base::to_ms(time)) {
      low = middle;
    } else {
      high = key - 1;
    }
  }
  return {low};
}

Result<std::vector<TreeMember>> read_tree(Connection& connection, task::TaskKey root, int most) {
  std::vector<TreeMember> members;
  auto first = find_head(connection, root);
  if (first) members.push_back({std::move(first->head), delivers(connection, root)});
  for (std::size_t next = 0; next < members.size(); ++next) {
    std::vector<task::TaskKey> keys;
    {
      Query query =
          connection.query("SELECT task_key FROM tasks WHERE parent_key = ?", members[next].head.key);
      while (query.step()) keys.push_back({query.integer(0)});
    }
    for (const task::TaskKey key : keys) {
      if (std::ssize(members) >= most) return fail(ErrorCode::too_large, "the tree is too large");
      if (auto row = find_head(connection, key)) {
        members.push_back({std::move(row->head), delivers(connection, key)});
      }
    }
  }
  return members;
}

Result<std::vector<Removed>> remove_tasks(WriteState& state, const Removal& removal) {
  Connection& connection = state.connection();
  const Overwriting overwriting(connection, removal.erases);
  std::vector<Removed> removed;
  std::int64_t bytes = 0;
  task::TaskKey last;
  for (const Removal::One& one : removal.tasks) {
    const auto row = find_head(connection, one.task);
    if (!row || !may_go(connection, *row, one, removal.erases)) continue;
    if (auto deleted = delete_task(state, *row); !deleted) return fail(deleted.error());
    bytes += static_cast<std::int64_t>(row->head.bytes);
    if (bytes > kRemovedBytesMax || row->head.last_event.value > kRemovedEventsMax) {
      connection.run("INSERT INTO removed_logs (task_key, erased) VALUES (?, ?)", one.task, removal.erases);
    } else {
      delete_events(connection, one.task, kRemovedEventsMax);
    }
    removed.push_back({one.task, row->head.caller, row->head.bytes});
    last = std::max(last, one.task);
  }
  if (last) connection.run("UPDATE retention SET last_task = ?1 WHERE last_task < ?1", last);
  return removed;
}

bool tidy(WriteState& state, std::int64_t spare_pages) {
  Connection& connection = state.connection();
  if (tidy_log(connection)) return true;
  return connection.give_back_pages(spare_pages);
}

}  // namespace baton::store::sql
