#include "store/sqlite/task_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/event_codec.h"
#include "store/sqlite/artifact_reader.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/event_rows.h"
#include "store/sqlite/index_rows.h"
#include "task/fold.h"

namespace baton::store::sqlite {
namespace {

// Memory limits of one read: of the next events, and of the newest messages. At least one is returned.
constexpr std::size_t kPageBytesMax = 1 << 20;
constexpr std::size_t kHistoryBytesMax = 16 << 20;

using base::ErrorCode;
using base::fail;
using base::Result;

Result<task::Event> read_event(Connection& connection, task::TaskKey key, task::EventNumber number) {
  Query query = connection.query("SELECT event_key, kind, at_ms, body FROM events WHERE event_key = ?",
                                 event_key(key, number));
  if (!query.step()) return fail(ErrorCode::not_found, "no such event");
  return event_at(query, 0);
}

// The last StatusChanged up to `as_of`, 0 if there is none.
task::EventNumber status_event(Connection& connection, const TaskRow& row, task::EventNumber as_of) {
  if (row.head.status_event <= as_of) return row.head.status_event;
  Query query = connection.query(
      "SELECT event_key FROM events WHERE event_key BETWEEN ? AND ? AND kind = 1 "
      "ORDER BY event_key DESC LIMIT 1",
      event_key(row.head.key, {}), event_key(row.head.key, as_of));
  return query.step() ? number_at(query, 0) : task::EventNumber{};
}

Result<task::Status> read_status(Connection& connection, const TaskRow& row, task::EventNumber as_of) {
  const task::EventNumber number = status_event(connection, row, as_of);
  if (!number) return task::Status{task::State::submitted, std::nullopt, row.created};
  auto event = read_event(connection, row.head.key, number);
  if (!event) return fail(event.error());
  auto* changed = std::get_if<task::StatusChanged>(&event->body);
  if (changed == nullptr) return fail(damaged("event " + std::to_string(number.value) + " is no status"));
  return std::move(changed->status);
}

Result<std::vector<task::Message>> read_history(Connection& connection, task::TaskKey key,
                                                task::EventNumber as_of, std::optional<int> count) {
  std::vector<task::Message> history;
  Query query = connection.query(
      "SELECT e.event_key, e.kind, e.at_ms, e.body FROM messages m "
      "JOIN events e ON e.event_key = (m.task_key << 28) + m.number "
      "WHERE m.task_key = ? AND m.number <= ? ORDER BY m.number DESC LIMIT ?",
      key, as_of, count ? std::max(*count, 0) : std::numeric_limits<int>::max());
  std::size_t bytes = 0;
  while (bytes < kHistoryBytesMax && query.step()) {
    auto event = event_at(query, 0);
    if (!event) return fail(event.error());
    bytes += task::weight_of(event->body);
    auto message = message_of(std::move(*event));
    if (!message) return fail(message.error());
    history.push_back(std::move(*message));
  }
  std::reverse(history.begin(), history.end());
  return history;
}

task::Json read_metadata(Connection& connection, task::TaskKey key) {
  Query query = connection.query("SELECT metadata FROM task_metadata WHERE task_key = ?", key);
  return query.step() ? task::Json{query.text(0)} : task::Json();
}

bool is_indexed(Connection& connection, task::TaskKey key) {
  Query query = connection.query("SELECT indexed FROM tasks WHERE task_key = ?", key);
  return query.step() && query.truth(0);
}

// The first event after `after` for which `is` holds.
template <class Is>
task::EventPtr first_after(const std::vector<task::EventPtr>& log, task::EventNumber after, Is&& is) {
  const auto found = std::ranges::find_if(
      log, [&](const task::EventPtr& event) { return event->number > after && is(*event); });
  return found == log.end() ? nullptr : *found;
}

bool stops(const task::Event& event) {
  const task::StatusChanged* status = task::status_in(event);
  return status != nullptr && task::is_stopped(status->status.state);
}

// Status, artifacts and history of a task that has rows in the index tables.
Result<void> read_indexed(Connection& connection, const TaskRow& row, const task::Depth& depth,
                          task::Task& task) {
  auto status = read_status(connection, row, task.last_event);
  if (!status) return fail(status.error());
  task.status = std::move(*status);
  if (depth.artifacts) {
    auto artifacts = read_artifacts(connection, row.head.key, task.last_event);
    if (!artifacts) return fail(artifacts.error());
    task.artifacts = std::move(*artifacts);
  }
  auto history = read_history(connection, row.head.key, task.last_event, depth.history);
  if (!history) return fail(history.error());
  task.history = std::move(*history);
  return {};
}

}  // namespace

Result<task::Task> read_task(Connection& connection, std::optional<TaskRow> row, const task::Depth& depth,
                             std::optional<task::EventNumber> as_of) {
  if (!row) return fail(ErrorCode::task_not_found, "task not found");
  if (row->head.bytes > depth.bytes_max) return fail(ErrorCode::too_large, "the task is large");
  const task::TaskKey key = row->head.key;
  task::Task task;
  task.last_event = std::min(as_of.value_or(row->head.last_event), row->head.last_event);
  if (row->indexed) {
    if (auto read = read_indexed(connection, *row, depth, task); !read) return fail(read.error());
  } else {
    const auto log = read_short_log(connection, key, task.last_event);
    if (!log) return fail(log.error());
    task = task::fold(*log, depth, row->created);
  }
  task.metadata = read_metadata(connection, key);
  task.id = std::move(row->head.id);
  task.context = std::move(row->head.context);
  task.origin = row->head.origin;
  task.hidden = row->head.hidden;
  return task;
}

Result<std::vector<task::Event>> read_events(Connection& connection, task::TaskKey key,
                                             task::EventNumber after, int limit) {
  std::vector<task::Event> events;
  Query query = connection.query(
      "SELECT event_key, kind, at_ms, body FROM events WHERE event_key > ? AND event_key <= ? "
      "ORDER BY event_key LIMIT ?",
      event_key(key, after), event_key(key, task::kLogEnd), std::max(limit, 0));
  std::size_t bytes = 0;
  while (bytes < kPageBytesMax && query.step()) {
    auto event = event_at(query, 0);
    if (!event) return fail(event.error());
    bytes += task::weight_of(event->body);
    events.push_back(std::move(*event));
  }
  return events;
}

Result<TurnInput> read_turn_input(Connection& connection, task::TaskKey key, task::EventNumber number) {
  auto event = read_event(connection, key, number);
  if (!event) return fail(event.error());
  auto* added = std::get_if<task::MessageAdded>(&event->body);
  if (added == nullptr) return fail(ErrorCode::not_found, "no such message");
  TurnInput input;
  input.message = std::move(added->message);
  Query query = connection.query(
      "SELECT m.metadata, r.metadata, r.tools, r.client_state, r.extensions, r.history FROM tasks t "
      "LEFT JOIN task_metadata m ON m.task_key = t.task_key "
      "LEFT JOIN turn_requests r ON r.task_key = t.task_key AND r.number = ?2 WHERE t.task_key = ?1",
      key, number);
  if (!query.step()) return input;
  input.task_metadata = {query.text(0)};
  input.request.metadata = {query.text(1)};
  input.request.tools = {query.text(2)};
  input.request.client_state = {query.text(3)};
  if (const std::string extensions = query.text(4); !extensions.empty()) {
    auto decoded = store::codec::decode_strings(extensions);
    if (!decoded) return fail(decoded.error());
    input.request.extensions = std::move(*decoded);
  }
  if (const std::string history = query.text(5); !history.empty()) {
    auto decoded = store::codec::decode_messages(history);
    if (!decoded) return fail(decoded.error());
    input.request.history = std::move(*decoded);
  }
  return input;
}

Result<std::optional<Stop>> stop_after(Connection& connection, task::TaskKey key, task::EventNumber number) {
  task::EventPtr found;
  if (!is_indexed(connection, key)) {
    const auto log = read_short_log(connection, key, task::kLogEnd);
    if (!log) return fail(log.error());
    found = first_after(*log, number, stops);
  } else {
    Query query = connection.query(
        "SELECT e.event_key, e.kind, e.at_ms, e.body FROM stops s "
        "JOIN events e ON e.event_key = (s.task_key << 28) + s.number "
        "WHERE s.task_key = ? AND s.number > ? ORDER BY s.number LIMIT 1",
        key, number);
    if (!query.step()) return std::optional<Stop>();
    auto event = event_at(query, 0);
    if (!event) return fail(event.error());
    found = std::make_shared<const task::Event>(std::move(*event));
  }
  const task::StatusChanged* status = found ? task::status_in(*found) : nullptr;
  return status ? std::optional(Stop{status->status.state, found->number}) : std::nullopt;
}

Result<task::EventNumber> stop_before(Connection& connection, task::TaskKey key, task::EventNumber number) {
  if (!is_indexed(connection, key)) {
    const auto log = read_short_log(connection, key, {number.value - 1});
    if (!log) return fail(log.error());
    const auto found =
        std::find_if(log->rbegin(), log->rend(), [](const auto& event) { return stops(*event); });
    return found == log->rend() ? task::EventNumber{} : (*found)->number;
  }
  Query query = connection.query(
      "SELECT number FROM stops WHERE task_key = ? AND number < ? ORDER BY number DESC LIMIT 1", key, number);
  return query.step() ? task::EventNumber{query.integer(0)} : task::EventNumber{};
}

Result<std::vector<task::EventNumber>> user_messages(Connection& connection, task::TaskKey key,
                                                     task::EventNumber after, int count) {
  std::vector<task::EventNumber> found;
  if (!is_indexed(connection, key)) {
    const auto log = read_short_log(connection, key, task::kLogEnd);
    if (!log) return fail(log.error());
    for (const task::EventPtr& event : *log) {
      const task::Message* message = task::message_in(event->body);
      const bool is_one = event->number > after && message && message->role == task::Role::user;
      if (is_one && std::ssize(found) < count) found.push_back(event->number);
    }
    return found;
  }
  Query query = connection.query(
      "SELECT number FROM messages WHERE task_key = ? AND number > ? AND role = 0 ORDER BY number LIMIT ?",
      key, after, count);
  while (query.step()) found.push_back({query.integer(0)});
  return found;
}

}  // namespace baton::store::sqlite
