// Cancels: cancels tasks and their children. Stores the request first, then tells the running turn.
//
// Threads: any. Calls may block on the disk; `done` runs where TaskService's callbacks do.
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
  // `reason`: the text of the canceled status; empty: none.
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
