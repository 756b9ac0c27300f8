// CallerUsage: how many tasks and bytes each caller has in the store, for the caps on both. Counted at start,
// then kept up to date. Exact; if other nodes share the store, exact only as of the last count. A caller's
// tenants count together.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/guarded.h"
#include "store/retention_store.h"

namespace baton::engine {

class CallerUsage {
 public:
  // 0: no cap. `is_recounted`: `count` is called more than once.
  CallerUsage(std::int64_t tasks_max, std::size_t bytes_max, bool is_recounted)
      : tasks_max_(tasks_max),
        bytes_max_(static_cast<std::int64_t>(bytes_max)),
        is_recounted_(is_recounted) {}

  // Counts by reading the heads of all tasks. Call before anything is added, and regularly if other nodes add
  // and remove tasks. `await_stored` must return once everything added before it is in the store. Tasks added
  // during a count may count twice until the next one. One call at a time. Blocks.
  base::Result<void> count(const store::RetentionStore& store, const std::function<void()>& await_stored);

  // Fails with overloaded unless the caller may send a message. `makes_task`: the message creates a task.
  base::Result<void> admit(const task::Caller& caller, bool makes_task) const;
  void add(const task::Caller& caller, std::int64_t tasks, std::int64_t bytes);

 private:
  struct Used {
    std::int64_t tasks = 0, bytes = 0;
  };
  using ByCaller = std::map<std::string, Used, std::less<>>;
  struct Counted {
    ByCaller used;
    ByCaller meanwhile;  // added since the last count began
  };

  static void add_to(ByCaller& all, const task::Caller& caller, Used more);

  const std::int64_t tasks_max_, bytes_max_;
  const bool is_recounted_;
  base::Guarded<Counted> used_;
};

}  // namespace baton::engine
