// WriteState: the writing connection, and the data that the writer keeps from one change to the next.
//
// Threads: the writing thread only. While a transaction is open, the state is ahead of the disk: call
// `forget` after a rollback.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/sql/connection.h"
#include "store/sql/head_rows.h"
#include "store/sql/writer_dialect.h"

namespace baton::store::sql {

class WriteState {
 public:
  WriteState(Connection& connection, const base::Clock& clock, WriterDialect& dialect, int short_events_max)
      : connection_(connection), clock_(clock), dialect_(dialect), short_events_max_(short_events_max) {}

  // Call when the tables exist, before anything is written.
  void start();

  Connection& connection() { return connection_; }
  const base::Clock& clock() const { return clock_; }
  NodeId node() const { return dialect_.node(); }
  // The current time. Never goes back, so that the order of numbers and the order of times agree.
  base::Timestamp now() { return last_ = std::max(last_, clock_.now()); }

  // Adds the task's artifacts that the change names to the row, and perhaps others too.
  const task::ArtifactPlaces& artifacts(TaskRow& task, const task::Change& change);
  std::vector<TaskRow::Config>& configs(TaskRow& task);
  task::TaskKey new_task_key() { return {dialect_.new_key(KeyOf::task)}; }
  task::ContextKey new_context_key() { return {dialect_.new_key(KeyOf::context)}; }
  PushConfigKey new_config_key() { return {dialect_.new_key(KeyOf::config)}; }
  DeliveryKey new_delivery_key() { return {dialect_.new_key(KeyOf::delivery)}; }

  bool fits_key(std::initializer_list<std::string_view> texts) const { return dialect_.fits_key(texts); }

  // Notes that an operator has resent deliveries of this task's configs.
  void note_resent(TaskRow& task) {
    for (const TaskRow::Config& config : configs(task)) resent_.insert(config.key);
  }
  // Whether pending deliveries of the config may precede others that are not pending.
  bool may_resend(PushConfigKey config) const { return resent_.contains(config); }
  // Notes that the config may have pending deliveries from this event on, and that perhaps none of them is
  // due.
  void note_waiting(PushConfigKey config, task::EventNumber event) {
    if (!node()) return;
    task::EventNumber& first = waiting_.try_emplace(config, event).first->second;
    first = std::min(first, event);
  }

  // Returns the delivery's row; nullopt if it is gone. Also reads the expected deliveries.
  std::optional<WriterDialect::DeliveryRow> delivery(DeliveryKey key);
  // Notes that results of these deliveries follow.
  void expect_deliveries(const std::vector<DeliveryKey>& keys) { expected_ = keys; }
  // Discards the deliveries that were read, because they may have changed.
  void change_deliveries() {
    expected_.clear();
    deliveries_.clear();
  }

  void keep_context(task::ContextKey context) { dialect_.keep_context(context); }
  void claim_context(task::ContextKey context) { dialect_.claim_context(context); }

  RecentSends& sends() {
    dialect_.sends().refresh(connection_);
    return dialect_.sends();
  }
  int short_events_max() const { return short_events_max_; }

  // How often a task has joined another task's own context since the start. A row's `alone` stays valid while
  // this number does not change.
  std::int64_t joins() const { return joins_; }
  void note_join() { ++joins_; }

  // Counts a task that has come to rest (1) or has left that state (-1). The totals are written with the
  // transaction.
  void count(const task::TaskHead& head, std::int64_t tasks);
  // Call last in a transaction.
  void finish();

  void forget() {
    totals_.clear();
    waiting_.clear();
    change_deliveries();
    dialect_.sends().forget();
  }

 private:
  void find_artifact(TaskRow& task, const task::ArtifactId& id);

  Connection& connection_;
  const base::Clock& clock_;
  WriterDialect& dialect_;
  const int short_events_max_;
  base::Timestamp last_{};
  std::int64_t joins_ = 1;
  std::unordered_set<PushConfigKey> resent_;  // may contain others too
  WriterDialect::Waiting waiting_;            // in the open transaction
  std::vector<DeliveryKey> expected_;         // not read yet
  WriterDialect::DeliveryRows deliveries_;    // read, and not recorded yet
  // Not yet written. std::less<> allows look-up by references.
  std::map<std::tuple<task::AgentName, task::Caller, task::State>, std::int64_t, std::less<>> totals_;
};

}  // namespace baton::store::sql
