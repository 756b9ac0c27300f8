// RetentionStore: removes tasks from a store. All data of a task is removed except its sends, which are
// digests.
//
// Threads and groups: `remove` and `tidy` add to the open group and fail as TaskStore::apply does; reads on
// any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/state.h"
#include "task/task.h"

namespace baton::store {

// The facts about a task that the decision to remove it needs.
struct TreeMember {
  task::TaskHead head;
  bool delivers = false;  // a webhook of it is neither delivered nor given up
};

struct Removal {
  struct One {
    task::TaskKey task;
    task::Version version;  // at the time of the decision
  };
  std::vector<One> tasks;  // children before their parents
  // Pending deliveries are removed too, and the deleted data is overwritten.
  bool erases = false;
};

// A task that was removed.
struct Removed {
  task::TaskKey task;
  task::Caller caller;
  std::size_t bytes = 0;
};

// Whether the task is in a terminal state and has no turn left; no other may be removed.
inline bool has_ended(const task::TaskHead& head) {
  return task::is_terminal(head.state) && head.turn_state == task::TurnState::none;
}

// How far the order of keys may differ from the order of creation in a store that nodes share, because each
// node takes keys in blocks and has its own clock.
inline constexpr std::chrono::hours kKeysOutOfOrder(2);

class RetentionStore {
 public:
  virtual ~RetentionStore() = default;

  // At most `limit` tasks with keys above `after`, hidden ones too, in the order of their keys.
  virtual base::Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const = 0;
  // Returns a key: tasks up to it were created by this time, tasks above it later, provided that the clock
  // was right; in a store that nodes share, both to within kKeysOutOfOrder.
  virtual base::Result<task::TaskKey> last_made(base::Timestamp time) const = 0;
  // Returns the task and all tasks below it, parents first; empty if there is no such task. Fails with
  // too_large if there are more than `most`.
  virtual base::Result<std::vector<TreeMember>> tree(task::TaskKey root, int most) const = 0;
  // All tasks of a context, hidden ones too.
  virtual base::Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const = 0;
  // Whether the database had tasks before this program knew retention.
  virtual bool kept_before() const = 0;

  // Removes the tasks that have ended, are unchanged, have no tasks below them, no unfinished parent and,
  // unless it erases, no pending webhook. The others stay. Returns the removed tasks. The content of a long
  // log may be deleted later, by `tidy`, but is no longer accessible.
  virtual base::Result<std::vector<Removed>> remove(const Removal& removal) = 0;
  // Deletes a further part of long removed logs, or returns some of the file's free pages to the disk, down
  // to `spare_pages`. Returns whether there is more to do.
  virtual base::Result<bool> tidy(std::int64_t spare_pages) = 0;
};

}  // namespace baton::store
