// Erasure: removes one task, one context or all tasks of a caller, whatever their age: for an operator, and a
// context for its caller.
//
// Fails with conflict while one of the tasks, or the parent of one, has not ended: cancel that first, because
// an agent's work cannot be removed while it runs. Pending webhooks are removed, too. Deleted data is
// overwritten in the database. The audit row is written with the first tasks that are removed, for a bulk job
// with the last; a refused erasure leaves a row, too. An actor and a reason are required, as in
// OperatorActions. Threads: any. `done` is called once, on any thread, and must not block; for a bulk job
// never once the engine has drained.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "engine/operators/api_keys.h"
#include "engine/operators/operator_actions.h"
#include "engine/shared/background.h"
#include "engine/upkeep/removals.h"
#include "task/audit.h"

namespace baton::engine {

class Erasure {
 public:
  // Adds a row to the audit in the store's open group, as TaskStore::apply adds a change.
  using Audit = std::function<base::Result<void>(const task::AuditEntry&)>;
  struct Erased {
    std::int64_t tasks = 0;  // that are gone
    std::int64_t left = 0;   // that resumed meanwhile and stay, or that another erasure removed
    std::int64_t keys = 0;   // of the caller
  };
  using Done = std::function<void(base::Result<Erased>)>;

  Erasure(store::RetentionStore& store, Removals& removals, Background& background, Audit audit)
      : store_(store), removals_(removals), background_(background), audit_(std::move(audit)) {}

  // Sets whose keys erase_caller removes. Once, before the first erasure.
  void set_keys(ApiKeys& keys) { keys_ = &keys; }

  // Erases the task and all below it. Fails with task_not_found, conflict. For a bulk job a missing task
  // counts as erased, because its parent's erasure may have removed it; and pages are not given back: call
  // `tidy` after the job.
  void erase_task(task::TaskKey key, Actor actor, Done done);
  // Erases all tasks of a context, and those below them. Fails with not_found, conflict.
  void erase_context(const task::ContextRef& context, Actor actor, Done done);
  // The tasks that erase_context would remove. Blocks on the disk.
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const;
  // Erases all API keys of a caller, and then all its tasks at all agents and in all its tenants. Fails with
  // not_found (neither is there), conflict; the keys are gone even so.
  void erase_caller(const std::string& name, Actor actor, Done done);

  // Answers open orders with unavailable, except those of bulk jobs. Call it once no erasure that was begun
  // is still running.
  void stop();

  // Gives the pages of deleted data back to the disk.
  void tidy() {
    removals_.tidy(0, [] {});
  }

 private:
  struct Order;
  using OrderPtr = std::shared_ptr<Order>;

  void open(OrderPtr order, Actor actor, Done done);
  void answer(const OrderPtr& order, base::Result<Erased> outcome);
  base::Result<std::vector<task::TaskHead>> chosen(const Order& order) const;
  base::Result<std::vector<task::TaskHead>> with_trees(const std::vector<task::TaskKey>& roots) const;
  base::Result<std::vector<task::TaskHead>> of_caller(const std::string& name) const;
  base::Result<void> check(const std::vector<task::TaskHead>& heads) const;
  void begin(const OrderPtr& order);
  void erase(const OrderPtr& order);
  void record_nothing(const OrderPtr& order, const base::Result<void>& result);

  store::RetentionStore& store_;
  Removals& removals_;
  Background& background_;
  const Audit audit_;
  ApiKeys* keys_ = nullptr;
  base::Guarded<std::vector<OrderPtr>> open_;  // orders that have no answer yet
};

}  // namespace baton::engine
