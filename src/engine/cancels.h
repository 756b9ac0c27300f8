// Cancels: a task and its children are to stop. The wish is stored first; then whoever runs the task's turn
// is told.
//
// Threads: any. Reading blocks on the disk; `done` runs as the answers of TaskService do.
#pragma once

#include <functional>

#include "engine/ledger.h"
#include "engine/options.h"
#include "engine/turns.h"
#include "engine/waits.h"

namespace baton::engine {

class Cancels {
 public:
  using Done = std::function<void(base::Result<task::TaskKey>)>;

  Cancels(store::TaskStore& store, Ledger& ledger, Turns& turns, Waits& waits, Background& background,
          const base::Clock& clock, const EngineOptions& options)
      : store_(store),
        ledger_(ledger),
        turns_(turns),
        waits_(waits),
        background_(background),
        clock_(clock),
        options_(options) {}

  void cancel(const task::TaskRef& ref, Done done);
  // `reason` is told to whoever sees the task end as canceled.
  void cancel(task::TaskKey key, Done done, const std::string& reason = {});
  void cancel_children(task::TaskKey parent);

 private:
  void cancel_head(const task::TaskHead& head, const std::string& reason, int tries, Done done);
  void await_cancel(task::TaskKey key, task::EventNumber after, Done done);
  void stored(const task::TaskHead& before, const std::string& reason, Ledger::Written written, Done done);

  store::TaskStore& store_;
  Ledger& ledger_;
  Turns& turns_;
  Waits& waits_;
  Background& background_;
  const base::Clock& clock_;
  const EngineOptions& options_;
};

}  // namespace baton::engine
