// Waits: the pending waits for tasks to stop, each with a deadline.
//
// Threads: any. `done` runs once for each wait: on the flushing thread, the timer thread, or the thread that
// ends the wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "engine/background.h"
#include "engine/feed.h"

namespace baton::engine {

class Waits {
 public:
  using Done = std::function<void(std::optional<Stop>)>;
  struct Wait;
  using WaitPtr = std::shared_ptr<Wait>;  // owned by the registry; also held while it is being ended

  Waits(Feed& feed, Background& background) : feed_(feed), background_(background) {}

  // Waits for the first stop after event `after` that is published from now on. `done` gets nothing once
  // `bound` has passed.
  WaitPtr begin(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound, Done done);
  void end(const WaitPtr& wait, std::optional<Stop> stop);
  void end_all();

 private:
  Feed& feed_;
  Background& background_;
  base::Guarded<std::unordered_map<Wait*, WaitPtr>> waits_;
};

}  // namespace baton::engine
