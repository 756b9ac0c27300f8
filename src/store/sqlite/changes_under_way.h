// ChangesUnderWay: which tasks have a change on its way to the disk, and who waits for its end.
//
// From the moment it is handed over, which is before RecentTasks hears of it: what is merely queued does not
// make memory untrue. Threads: any. Nothing is called with the lock held.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "task/ids.h"

namespace baton::store::sqlite {

class ChangesUnderWay {
 public:
  // A change to the task has been handed over to the committing thread; `end` follows.
  void begin(task::TaskKey key);
  // It has come to its end. Answers what `after` was given meanwhile, to be called without delay.
  [[nodiscard]] std::vector<std::function<void()>> end(task::TaskKey key);
  // False, and nothing is kept: no change is under way.
  bool after(task::TaskKey key, std::function<void()> then);

 private:
  struct Task {
    int changes = 0;
    std::vector<std::function<void()>> waiting;
  };
  base::Guarded<std::unordered_map<task::TaskKey, Task>> tasks_;
};

}  // namespace baton::store::sqlite
