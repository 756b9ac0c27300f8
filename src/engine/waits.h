// Waits: the pending waits for tasks to stop, each with a deadline.
//
// Threads: any. `done` runs once for each wait: on the flushing thread, the timer thread, or the thread that
// ends the wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "engine/background.h"
#include "engine/live_tasks.h"
#include "engine/task_reader.h"

namespace baton::engine {

class Waits {
 public:
  using Done = std::function<void(std::optional<Stop>)>;
  Waits(LiveTasks& live, const TaskReader& reader, Background& background)
      : live_(live), reader_(reader), background_(background) {}

  // Waits for the first stop after event `after`, whether it has come already or not. `done` gets nothing
  // once `bound` has passed.
  void begin(task::TaskKey task, task::EventNumber after, std::chrono::milliseconds bound, Done done);
  // Ends all waits with nothing, and every later one as soon as it begins.
  void end_all();

 private:
  struct Wait;
  using WaitPtr = std::shared_ptr<Wait>;  // owned by the registry; also held while it is being ended

  void end(const WaitPtr& wait, std::optional<Stop> stop);

  LiveTasks& live_;
  const TaskReader& reader_;
  Background& background_;
  struct Registry {
    std::unordered_map<std::uint64_t, WaitPtr> waits;
    std::uint64_t last = 0;  // number given to a wait
    bool closed = false;
  };
  base::Guarded<Registry> registry_;
};

}  // namespace baton::engine
