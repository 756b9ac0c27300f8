// Logs what tasks come to, for authors of agents who watch them in a terminal (--dev).
#pragma once

#include <string>
#include <unordered_map>

#include "store/task_store.h"

namespace baton::app {

// Threads: one at a time.
class TaskLog {
 public:
  // Logs a line at level info for each turn that ends with this change: what was asked, and what came of it.
  void log_ends(const store::Committed& committed);

 private:
  struct Turn {
    std::string asked, said;
    std::string reply;  // the streamed reply that was added to `said` last
    base::Timestamp begun{};
  };
  static void add(Turn& turn, const task::Event& event);

  std::unordered_map<std::int64_t, Turn> turns_;  // by the task's key; those that have not ended
};

}  // namespace baton::app
