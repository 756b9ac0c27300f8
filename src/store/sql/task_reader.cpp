#include "store/sql/task_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/event_codec.h"
#include "store/log_reads.h"
#include "store/sql/log_rows.h"
#include "task/fold.h"

namespace baton::store::sql {
namespace {

// The memory limit of one read of events. At least one event is returned.
constexpr std::size_t kPageBytesMax = 1 << 20;

using base::ErrorCode;
using base::fail;
using base::Result;

task::Json read_metadata(Connection& connection, task::TaskKey key) {
  Query query = connection.query("SELECT metadata FROM task_metadata WHERE task_key = ?", key);
  return query.step() ? task::Json{query.text(0)} : task::Json();
}

// Reads the task as of event `last` from its whole log.
Result<task::Task> read_whole(Connection& connection, const TaskRow& row, const task::Depth& depth,
                              task::EventNumber last) {
  task::Fold fold(depth, row.head.created, task::known_of(row.head, read_metadata(connection, row.head.key)));
  LogQuery log = LogQuery::all(connection, row.head.key, {{1}, last});
  while (true) {
    const auto event = log.next();
    if (!event) return fail(event.error());
    if (!*event) return std::move(fold).take();
    fold.add(*event);
  }
}

// Reads the task as of event `last` without artifacts, which needs only a few events.
Result<task::Task> read_outline(Connection& connection, const TaskRow& row, const task::Depth& depth,
                                task::EventNumber last) {
  const task::TaskHead& head = row.head;
  const int wanted = depth.history.value_or(std::numeric_limits<int>::max());
  std::vector<task::EventPtr> said;  // newest first
  if (wanted > 0) {
    LogQuery landmarks = LogQuery::landmarks_back(connection, head.key, {{1}, last});
    while (std::ssize(said) < wanted) {
      auto event = landmarks.next();
      if (!event) return fail(event.error());
      if (!*event) break;
      if (task::message_in((*event)->body) != nullptr) said.push_back(std::move(*event));
    }
  }
  task::Fold fold(depth, row.head.created, task::known_of(row.head, read_metadata(connection, row.head.key)));
  for (auto event = said.rbegin(); event != said.rend(); ++event) fold.add(*event);
  task::Task task = std::move(fold).take();
  const bool is_current = head.status_event <= last;
  const auto status = LogQuery::status(connection, head.key,
                                       is_current ? LogQuery::Range{head.status_event, head.status_event}
                                                  : LogQuery::Range{{1}, last})
                          .next();
  if (!status) return fail(status.error());
  if (*status) task.status = task::status_in(**status)->status;
  return task;
}

}  // namespace

Result<task::Task> read_task(Connection& connection, std::optional<TaskRow> row, const task::Depth& depth,
                             std::optional<task::EventNumber> as_of) {
  if (!row) return fail(ErrorCode::task_not_found, "task not found");
  const task::TaskHead& head = row->head;
  if (head.bytes > depth.bytes_max) return fail(ErrorCode::too_large, "the task is too large");
  const task::EventNumber last = std::min(as_of.value_or(head.last_event), head.last_event);
  auto task = depth.artifacts ? read_whole(connection, *row, depth, last)
                              : read_outline(connection, *row, depth, last);
  if (!task) return task;
  task->last_event = last;
  return task;
}

Result<std::vector<task::Event>> read_events(Connection& connection, task::TaskKey key,
                                             task::EventNumber after, int limit) {
  std::vector<task::Event> events;
  LogQuery log = LogQuery::all(connection, key, {{after.value + 1}, task::kLogEnd});
  std::size_t bytes = 0;
  while (bytes < kPageBytesMax && std::ssize(events) < limit) {
    auto event = log.next_own();
    if (!event) return fail(event.error());
    if (!*event) break;
    bytes += task::weight_of((*event)->body);
    events.push_back(std::move(**event));
  }
  return events;
}

Result<TurnInput> read_turn_input(Connection& connection, task::TaskKey key, task::EventNumber number) {
  const auto event = LogQuery::all(connection, key, {number, number}).next();
  if (!event) return fail(event.error());
  const auto* added = *event ? std::get_if<task::MessageAdded>(&(*event)->body) : nullptr;
  if (added == nullptr) return fail(ErrorCode::not_found, "message not found");
  TurnInput input;
  input.message = added->message;
  Query query = connection.query(
      "SELECT m.metadata, r.metadata, r.tools, r.client_state, r.extensions, r.hops, r.history, "
      "CASE WHEN coalesce(r.trace, '') <> '' THEN r.trace WHEN ?2 = ?3 THEN t.trace ELSE '' END FROM tasks t "
      "LEFT JOIN task_metadata m ON m.task_key = t.task_key "
      "LEFT JOIN turn_requests r ON r.task_key = t.task_key AND r.number = ?2 WHERE t.task_key = ?1",
      key, number, task::kFirstMessage);
  if (!query.step()) return input;
  input.task_metadata = {query.text(0)};
  input.request.metadata = {query.text(1)};
  input.request.tools = {query.text(2)};
  input.request.client_state = {query.text(3)};
  input.request.trace = query.text(7);
  for (auto [column, list] : {std::pair(4, &input.request.extensions), std::pair(5, &input.request.hops)}) {
    const std::string text = query.text(column);
    if (text.empty()) continue;
    auto decoded = store::codec::decode_strings(text);
    if (!decoded) return fail(decoded.error());
    *list = std::move(*decoded);
  }
  if (const std::string history = query.text(6); !history.empty()) {
    auto decoded = store::codec::decode_messages(history);
    if (!decoded) return fail(decoded.error());
    input.request.history = std::move(*decoded);
  }
  return input;
}

Result<std::optional<Stop>> stop_after(Connection& connection, task::TaskKey key, task::EventNumber number) {
  LogQuery landmarks = LogQuery::landmarks(connection, key, {{number.value + 1}, task::kLogEnd});
  while (true) {
    const auto event = landmarks.next();
    if (!event) return fail(event.error());
    if (!*event) return std::optional<Stop>();
    if (is_stop((*event)->body)) return Stop{task::status_in(**event)->status.state, (*event)->number};
  }
}

Result<task::EventNumber> stop_before(Connection& connection, task::TaskKey key, task::EventNumber number) {
  LogQuery landmarks = LogQuery::landmarks_back(connection, key, {{1}, {number.value - 1}});
  while (true) {
    const auto event = landmarks.next();
    if (!event) return fail(event.error());
    if (!*event) return task::EventNumber{};
    if (is_stop((*event)->body)) return (*event)->number;
  }
}

Result<void> read_waiting(Connection& connection, TaskRow& row) {
  if (row.head.waiting_messages == 0) return {};
  LogQuery landmarks =
      LogQuery::landmarks(connection, row.head.key, {{row.head.turn_message.value + 1}, task::kLogEnd});
  while (std::ssize(row.waiting) < row.head.waiting_messages) {
    const auto event = landmarks.next();
    if (!event) return fail(event.error());
    if (!*event) break;
    note_waiting(row, {&*event, 1});
  }
  return {};
}

}  // namespace baton::store::sql
