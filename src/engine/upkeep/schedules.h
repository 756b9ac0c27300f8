// Schedules: creates the tasks that agents' cards schedule (agents::Schedule), one for each due time.
//
// The id of a scheduled task is derived from agent, schedule and time, so the task is created once, no matter
// how often a due time is found. A hidden task of each schedule records when the schedule was first seen:
// earlier times do not count as missed. Where nodes of a shared store have different cards of an agent, the
// newest card decides. Threads: `take` from one thread; the rest from any.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "engine/sends/task_service.h"

namespace baton::engine {

class Schedules {
 public:
  Schedules(const store::TaskStore& store, TaskService& tasks, Inbox& inbox,
            const agents::Catalogue& catalogue, Background& background, const base::Clock& clock,
            const RetentionOptions& retention)
      : store_(store),
        tasks_(tasks),
        inbox_(inbox),
        catalogue_(catalogue),
        background_(background),
        clock_(clock),
        retention_(retention) {}

  // Loads the schedules of the current cards, and creates missed tasks. At start and after a reload.
  // Blocks.
  base::Result<void> load();

  struct Counts {
    int schedules = 0;
    std::int64_t begun = 0;  // tasks, since start
  };
  Counts counts() const { return {known_count_, begun_}; }

 private:
  struct One {
    task::AgentName agent;
    std::string id;
    const agents::Schedule* schedule = nullptr;  // lives as long as the catalogue
    base::Timestamp next{};
  };
  // The task of a due time.
  struct Due {
    task::TaskRef ref;
    task::Message message;
    base::Timestamp at{};
    std::string schedule;  // its name
  };

  base::Result<One> load(const task::AgentName& agent, const agents::Schedule& schedule);
  base::Result<base::Timestamp> first_seen(const task::TaskRef& mark);
  base::Timestamp oldest_kept(const task::AgentName& agent, base::Timestamp now) const;
  void make_due(One& one, base::Timestamp now);
  void submit_due(const One& one, base::Timestamp now);
  void fire();
  void submit(const Due& due);
  void submit_now(const Due& due);

  const store::TaskStore& store_;
  TaskService& tasks_;
  Inbox& inbox_;
  const agents::Catalogue& catalogue_;
  Background& background_;
  const base::Clock& clock_;
  const RetentionOptions& retention_;
  std::atomic<int> known_count_{0};
  std::atomic<std::int64_t> begun_{0};
  std::map<std::string, base::Timestamp> taken_;  // by id: `next` at the last `take`, which alone uses it
  // The timers' thread only.
  std::vector<One> all_;
  base::EventLoop::TimerId timer_ = 0;
};

// Returns the last of the times after `from` and up to `now`, at most `most`.
std::vector<base::Timestamp> last_times(const agents::Schedule& schedule, base::Timestamp from,
                                        base::Timestamp now, std::size_t most);

}  // namespace baton::engine
