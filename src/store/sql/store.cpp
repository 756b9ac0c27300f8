#include "store/sql/store.h"

#include <utility>

#include "store/sql/api_key_rows.h"
#include "store/sql/apply_change.h"
#include "store/sql/connection_pool.h"
#include "store/sql/context_rows.h"
#include "store/sql/conversation_rows.h"
#include "store/sql/crashed_turns.h"
#include "store/sql/delivery_rows.h"
#include "store/sql/failure.h"
#include "store/sql/operator_rows.h"
#include "store/sql/push_rows.h"
#include "store/sql/removed_rows.h"
#include "store/sql/task_pages.h"
#include "store/sql/task_reader.h"

namespace baton::store::sql {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<TaskRow> found(std::optional<TaskRow> row) {
  if (!row) return fail(ErrorCode::task_not_found, "task not found");
  return std::move(*row);
}

bool ends_group(const base::Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::internal ||
         error.code == ErrorCode::raced;
}

}  // namespace

// Runs `work` in the open group. A failure that leaves a write half done ends the group; so does a refusal if
// the group is otherwise empty.
template <class F>
auto Store::writing(const char* doing, F&& work) -> decltype(work()) {
  const bool is_first = !group_is_open_;
  auto result = [&]() -> decltype(work()) {
    try {
      if (is_first) state().connection().begin();
      group_is_open_ = true;
      return work();
    } catch (const Failure& failure) {
      base::Error error = error_of(failure, doing);
      if (!ends_group(error)) error.code = ErrorCode::internal;
      return fail(std::move(error));
    }
  }();
  if (result) return result;
  if (ends_group(result.error())) {
    take_back();
    state().forget();
  } else if (is_first) {
    take_back();
  }
  return result;
}

void Store::take_back() {
  state().connection().rollback();
  group_is_open_ = false;
}

Result<void> Store::in_group(const char* doing, const std::function<Result<void>()>& work) {
  return writing(doing, work);
}

Result<Committed> Store::apply(task::Change& change, TaskRow& row) {
  return writing("applying a change", [&] { return apply_change(state(), change, row); });
}

Result<void> Store::entitle(const task::ContextRef& context, const std::string& title) {
  return writing("writing a title", [&] { return write_title(state(), context, title); });
}

Result<void> Store::record(const DeliveryResult& result) {
  return writing("recording a delivery", [&] { return record_result(state(), result); });
}

void Store::expect(const std::vector<DeliveryKey>& keys) {
  state().expect_deliveries(keys);
}

Result<void> Store::commit() {
  const bool is_empty = !group_is_open_;
  return writing("committing", [&]() -> Result<void> {
    state().finish();
    commit_group(is_empty);
    group_is_open_ = false;
    return {};
  });
}

// Runs `work` on a reader connection in one snapshot.
template <class F>
auto Store::reading(const char* doing, F&& work) const {
  return catching(doing, [&] {
    auto lent = readers().lend();
    const Snapshot snapshot(*lent);
    return work(*lent);
  });
}

Result<TaskRow> Store::row(task::TaskKey key) const {
  return reading("finding a task", [&](Connection& connection) -> Result<TaskRow> {
    auto row = found(find_head(connection, key));
    if (!row) return row;
    if (auto read = read_waiting(connection, *row); !read) return fail(read.error());
    return row;
  });
}

Result<task::TaskHead> Store::find(const task::TaskRef& ref) const {
  return reading("finding a task", [&](Connection& connection) -> Result<task::TaskHead> {
    auto row = found(find_head(connection, ref));
    if (!row) return fail(row.error());
    return std::move(row->head);
  });
}

Result<task::Task> Store::read(task::TaskKey key, const task::Depth& depth,
                               std::optional<task::EventNumber> as_of) const {
  return reading("reading a task", [&](auto& connection) {
    return read_task(connection, find_head(connection, key), depth, as_of);
  });
}

Result<std::vector<task::Event>> Store::events(task::TaskKey key, task::EventNumber after, int limit) const {
  return reading("reading events",
                 [&](auto& connection) { return read_events(connection, key, after, limit); });
}

Result<TurnInput> Store::turn_input(task::TaskKey key, task::EventNumber message) const {
  return reading("reading a turn's input",
                 [&](auto& connection) { return read_turn_input(connection, key, message); });
}

Result<ContextRecord> Store::context(task::ContextKey context, task::TaskKey task,
                                     task::EventNumber unanswered, int limit) const {
  return reading("reading a conversation", [&](auto& connection) {
    return read_context(connection, context, task, unanswered, limit);
  });
}

Result<Opening> Store::opening(const task::ContextRef& context) const {
  return reading("reading how a conversation began",
                 [&](auto& connection) { return read_opening(connection, context); });
}

Result<std::optional<Stop>> Store::stop_after(task::TaskKey key, task::EventNumber number) const {
  return reading("finding where a task stopped",
                 [&](auto& connection) { return sql::stop_after(connection, key, number); });
}

Result<task::EventNumber> Store::stop_before(task::TaskKey key, task::EventNumber number) const {
  return reading("finding where a task stopped",
                 [&](auto& connection) { return sql::stop_before(connection, key, number); });
}

Result<EarlierSend> Store::earlier_send(const task::SendDigest& digest) const {
  return reading("finding an earlier send", [&](Connection& connection) -> Result<EarlierSend> {
    const auto send = recent_sends().find(connection, digest, state().clock().now());
    if (!send) return fail(ErrorCode::not_found, "no earlier send");
    return *send;
  });
}

Result<ListPage> Store::list(const task::ListFilter& filter) const {
  return reading("listing tasks",
                 [&](auto& connection) -> Result<ListPage> { return list_heads(connection, filter); });
}

Result<std::vector<task::TaskHead>> Store::open_tasks(Open which, task::TaskKey key, int limit) const {
  return reading("finding open tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return open_heads(connection, which, key, limit, state().node());
  });
}

Result<std::vector<task::PushConfig>> Store::configs(task::TaskKey task) const {
  return reading("reading push configs", [&](auto& connection) { return configs_of(connection, task); });
}

Result<std::vector<Delivery>> Store::due_deliveries(base::Timestamp now, int limit) const {
  return reading("finding due deliveries", [&](auto& connection) {
    return sql::due_deliveries(connection, state().node(), now, limit);
  });
}

Result<std::optional<base::Timestamp>> Store::next_due() const {
  return reading("finding the next delivery",
                 [&](auto& connection) -> Result<std::optional<base::Timestamp>> {
                   return sql::next_due(connection, state().node());
                 });
}

Result<DeliveryStore::Counts> Store::delivery_counts() const {
  return reading("counting deliveries",
                 [&](auto& connection) -> Result<Counts> { return sql::delivery_counts(connection); });
}

Result<std::vector<task::TaskHead>> Store::all_tasks(task::TaskKey after, int limit) const {
  return reading("reading tasks", [&](auto& connection) -> Result<std::vector<task::TaskHead>> {
    return heads_after(connection, after, limit);
  });
}

Result<task::TaskKey> Store::last_made(base::Timestamp time) const {
  return reading("finding a time",
                 [&](auto& connection) -> Result<task::TaskKey> { return sql::last_made(connection, time); });
}

Result<std::vector<TreeMember>> Store::tree(task::TaskKey root, int most) const {
  return reading("reading a tree", [&](auto& connection) { return read_tree(connection, root, most); });
}

Result<std::vector<task::TaskHead>> Store::in_context(const task::ContextRef& context) const {
  return reading(
      "reading the tasks of a context",
      [&](auto& connection) -> Result<std::vector<task::TaskHead>> { return heads_in(connection, context); });
}

Result<std::vector<Removed>> Store::remove(const Removal& removal) {
  return writing("removing tasks", [&] { return remove_tasks(state(), removal); });
}

Result<bool> Store::tidy(std::int64_t spare_pages) {
  return writing("tidying", [&]() -> Result<bool> { return sql::tidy(state(), spare_pages); });
}

// Like `reading`, but on an operators' connection.
template <class T, class F>
Result<T> Store::looking(const char* doing, F&& work) const {
  return catching(doing, [&]() -> Result<T> {
    auto lent = operators().lend();
    const Snapshot snapshot(*lent);
    return work(*lent);
  });
}

Result<TaskPage> Store::page(const TaskQuery& query) const {
  return looking<TaskPage>("listing", [&](auto& on) { return read_page(on, query); });
}

Result<TaskCount> Store::count(const TaskFilter& filter) const {
  return looking<TaskCount>("counting tasks", [&](auto& on) { return count_tasks(on, filter); });
}

Result<std::vector<OperatorStore::AgentCounts>> Store::counts_by_agent() const {
  return looking<std::vector<AgentCounts>>("counting", [](auto& on) { return sql::counts_by_agent(on); });
}

Result<TaskLine> Store::line(task::TaskKey key) const {
  return looking<TaskLine>("reading a line", [&](auto& on) { return read_line(on, key); });
}

Result<DeliveryPage> Store::deliveries(const DeliveryFilter& filter, std::int64_t before, int limit) const {
  return looking<DeliveryPage>("listing deliveries",
                               [&](auto& on) { return read_deliveries(on, filter, before, limit); });
}

Result<DeliveryLine> Store::delivery(DeliveryKey key) const {
  return looking<DeliveryLine>("finding a delivery", [&](auto& on) { return read_delivery(on, key); });
}

Result<AuditPage> Store::audit(const AuditFilter& filter, std::int64_t before, int limit) const {
  return looking<AuditPage>("reading the audit",
                            [&](auto& on) { return read_audit(on, filter, before, limit); });
}

Result<std::vector<AgentControl>> Store::agent_controls() const {
  return looking<std::vector<AgentControl>>("reading controls", [](auto& on) { return read_controls(on); });
}

Result<std::vector<CrashedTurn>> Store::crashed_turns() const {
  return looking<std::vector<CrashedTurn>>("reading crashed turns",
                                           [](auto& on) { return read_crashed_turns(on); });
}

Result<std::vector<BulkJob>> Store::bulk_jobs(int limit) const {
  return looking<std::vector<BulkJob>>("listing jobs", [&](auto& on) { return read_jobs(on, limit); });
}

Result<BulkJob> Store::bulk_job(task::BulkJobKey key) const {
  return looking<BulkJob>("finding a job", [&](auto& on) { return read_job(on, key); });
}

Result<std::vector<BulkItem>> Store::bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                bool open) const {
  return looking<std::vector<BulkItem>>("reading a job",
                                        [&](auto& on) { return read_items(on, job, after, limit, open); });
}

// Short reads that actions wait for, so the operators' connections, which long reads may hold, are not used.
Result<std::vector<ApiKey>> Store::api_keys() const {
  return reading("reading API keys",
                 [](auto& connection) -> Result<std::vector<ApiKey>> { return read_api_keys(connection); });
}

Result<std::int64_t> Store::api_keys_state() const {
  return reading("looking at API keys",
                 [](auto& connection) -> Result<std::int64_t> { return state_of_api_keys(connection); });
}

Result<ApiKey> Store::api_key(const std::string& id) const {
  return reading("finding an API key", [&](auto& connection) { return read_api_key(connection, id); });
}

Result<void> Store::write(const OperatorWrite& write) {
  return writing("writing for an operator",
                 [&] { return write_for_operator(state().connection(), write, state().now()); });
}

}  // namespace baton::store::sql
