// ChangesUnderWay: counts the pending changes of each task, and keeps callbacks that wait for one to finish.
//
// A change is pending from the moment it is queued. RecentTasks marks it only when it is applied, because a
// queued change does not make the cache stale. Threads: any. Nothing is called with the lock held.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "task/ids.h"

namespace baton::store::sqlite {

class ChangesUnderWay {
 public:
  // A change to the task is queued; call `end` once it has finished.
  void begin(task::TaskKey key);
  // The change has finished. Returns the callbacks given to `after`; call them at once.
  [[nodiscard]] std::vector<std::function<void()>> end(task::TaskKey key);
  // Keeps `then` for the next `end`. False, and `then` is dropped: no change is pending.
  bool after(task::TaskKey key, std::function<void()> then);

 private:
  struct Task {
    int changes = 0;
    std::vector<std::function<void()>> waiting;
  };
  base::Guarded<std::unordered_map<task::TaskKey, Task>> tasks_;
};

}  // namespace baton::store::sqlite
