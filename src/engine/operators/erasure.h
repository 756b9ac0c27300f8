// Erasure: removes one task, one context or everything of a caller, whatever their age: for an operator, and
// a context for its caller.
//
// Refused with conflict while something of it has not ended, or stands below a task that has not: cancel that
// first, since an agent's work cannot be taken back from under it. Webhooks that wait go as well. What is
// deleted is overwritten in the database. The audit's row is written with the first tasks that go, for a bulk
// job with the last ones; one that was refused leaves a row too. An actor and a reason are required, as in
// OperatorActions. Threads: any. `done` comes once, on any thread, and must not block; for a bulk job never
// once the engine has drained.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
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
    std::int64_t left = 0;   // that began anew meanwhile and stay, or that another erasure removed
  };
  using Done = std::function<void(base::Result<Erased>)>;

  Erasure(store::RetentionStore& store, Removals& removals, Background& background, Audit audit)
      : store_(store), removals_(removals), background_(background), audit_(std::move(audit)) {}

  // The task and all below it. Fails with task_not_found, conflict. For a bulk job a task that is not there
  // is done, as its parent may have been before it; nor are pages given back then: call `tidy` after the job.
  void erase_task(task::TaskKey key, Actor actor, Done done);
  // All tasks of a context, and those below them. Fails with not_found, conflict.
  void erase_context(const task::ContextRef& context, Actor actor, Done done);
  // What that would remove. Blocks on the disk.
  base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const;
  // All tasks of a caller at all agents, with all its tenants. Fails with not_found, conflict.
  void erase_caller(const std::string& name, Actor actor, Done done);

  // Answers what is still open with unavailable. Once nothing that was begun goes on any more.
  void stop();

  // Gives the pages of what was deleted back to the disk.
  void tidy() {
    removals_.tidy(0, [] {});
  }

 private:
  struct Order;
  using OrderPtr = std::shared_ptr<Order>;

  void begin(OrderPtr order, Actor actor, Done done);
  void answer(const OrderPtr& order, base::Result<Erased> outcome);
  base::Result<std::vector<task::TaskHead>> chosen(const Order& order) const;
  base::Result<std::vector<task::TaskHead>> with_trees(const std::vector<task::TaskKey>& roots) const;
  base::Result<std::vector<task::TaskHead>> of_caller(const std::string& name) const;
  base::Result<void> check(const std::vector<task::TaskHead>& heads) const;
  void erase(const OrderPtr& order);
  void note(const OrderPtr& order, const base::Result<void>& result);

  store::RetentionStore& store_;
  Removals& removals_;
  Background& background_;
  const Audit audit_;
  base::Guarded<std::vector<OrderPtr>> open_;  // orders that have no answer yet
};

}  // namespace baton::engine
