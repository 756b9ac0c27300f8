// Removals: removes tasks in small batches with pauses between them, so that sends need not wait for it.
//
// Threads: `run` from any. `done` is called once, on any thread, and must not block; never once the engine
// drains.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/decide/inbox.h"
#include "engine/shared/background.h"
#include "store/retention_store.h"

namespace baton::engine {

class Removals {
 public:
  Removals(store::RetentionStore& store, Inbox& inbox, Background& background)
      : store_(store), inbox_(inbox), background_(background) {}

  // Gets the number of tasks that are gone.
  using Done = std::function<void(std::int64_t)>;
  // Removes those of the tasks that RetentionStore::remove removes. `also` is written with the first or the
  // last batch, and gets the number of tasks that are gone by then. A batch that the store has no room for is
  // retried.
  enum class Noted { first, last };
  void run(store::Removal removal, Inbox::Also also, Done done, Noted noted = Noted::first);
  // Calls RetentionStore::tidy in steps until it has nothing left to do; `spare_pages` free pages may stay.
  void tidy(std::int64_t spare_pages, std::function<void()> done);

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  void next(const JobPtr& job);
  void rest(std::chrono::nanoseconds after, std::function<void()> then);

  store::RetentionStore& store_;
  Inbox& inbox_;
  Background& background_;
};

}  // namespace baton::engine
