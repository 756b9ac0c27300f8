// The kinds of Write: a change, setting and deleting a push config, a delivery's result, a probe.
#pragma once

#include <optional>
#include <utility>

#include "store/sqlite/apply_change.h"
#include "store/sqlite/changes_under_way.h"
#include "store/sqlite/committer.h"
#include "store/sqlite/push_rows.h"
#include "store/sqlite/recent_tasks.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// The approximate memory the change holds.
std::size_t weight_of(const task::Change& change);

class CommitChange final : public Write {
 public:
  CommitChange(task::Change change, RecentTasks& recent, ChangesUnderWay& under_way, CommitCallback done,
               EarlyCallback early);
  void apply(WriteState& state) override;
  void undo() override;
  void refuse(const base::Error& error) override;
  void committed() override;
  void finish() override;

 private:
  task::Change change_;
  RecentTasks& recent_;
  ChangesUnderWay& under_way_;
  const task::TaskKey task_;  // 0: the change creates a task
  task::TaskKey marked_;      // the task marked as changing in `recent_`
  CommitCallback done_;
  EarlyCallback early_;
  std::optional<base::Result<Committed>> result_;
};

class SetPush final : public Write {
 public:
  using Done = std::function<void(base::Result<task::PushConfig>)>;
  SetPush(task::TaskKey key, task::PushConfig config, int configs_max, Done done)
      : key_(key), config_(std::move(config)), configs_max_(configs_max), done_(std::move(done)) {}
  void apply(WriteState& state) override { result_ = set_config(state, key_, config_, configs_max_); }
  void undo() override { result_ = {}; }
  void refuse(const base::Error& error) override { result_ = base::fail(error); }
  void finish() override;

 private:
  const task::TaskKey key_;
  task::PushConfig config_;
  const int configs_max_;
  Done done_;
  base::Result<void> result_;
};

class DeletePush final : public Write {
 public:
  using Done = std::function<void(base::Result<void>)>;
  DeletePush(task::TaskKey key, task::PushConfigId id, Done done)
      : key_(key), id_(std::move(id)), done_(std::move(done)) {}
  void apply(WriteState& state) override { result_ = delete_config(state, key_, id_); }
  void undo() override { result_ = {}; }
  void refuse(const base::Error& error) override { result_ = base::fail(error); }
  void finish() override { done_(std::move(result_)); }

 private:
  const task::TaskKey key_;
  const task::PushConfigId id_;
  Done done_;
  base::Result<void> result_;
};

class RecordDelivery final : public Write {
 public:
  using Done = std::function<void(base::Result<void>)>;
  RecordDelivery(DeliveryResult outcome, Done done) : outcome_(std::move(outcome)), done_(std::move(done)) {}
  void apply(WriteState& state) override { result_ = record_result(state, outcome_); }
  void undo() override { result_ = {}; }
  void refuse(const base::Error& error) override { result_ = base::fail(error); }
  void finish() override { done_(std::move(result_)); }

 private:
  const DeliveryResult outcome_;
  Done done_;
  base::Result<void> result_;
};

// Rewrites a page unchanged.
class Probe final : public Write {
 public:
  using Done = std::function<void(base::Result<void>)>;
  explicit Probe(Done done) : done_(std::move(done)) {}
  void apply(WriteState& state) override;
  void undo() override { result_ = {}; }
  void refuse(const base::Error& error) override { result_ = base::fail(error); }
  void finish() override { done_(std::move(result_)); }

 private:
  Done done_;
  base::Result<void> result_;
};

}  // namespace baton::store::sqlite
