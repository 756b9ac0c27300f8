// WorkerGroup: the workers of one agent and the turns that wait for one.
//
// Workers are started when a turn needs one. If workers keep dying before they have ended a turn, each
// restart waits longer. A turn goes to an idle worker, else to a new one as long as there may be more,
// else to the one with the fewest turns; a worker that has not answered a cancel comes last. If no worker
// has room, a turn that only waits for its children gives up its place, unless its work must not be done
// twice. The engine bounds the number of turns (concurrency). A retired worker is replaced at once.
// Workers and retired ones together are at most twice the agent's `workers`; if more than `workers` are
// retired, the one retired first is killed. Scaling changes `workers`: surplus workers take no further
// turns, and end once they have none. Threads: the host's only.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "agents/command/worker.h"

namespace baton::agents {

class WorkerGroup : public std::enable_shared_from_this<WorkerGroup> {
 public:
  explicit WorkerGroup(std::shared_ptr<const LaunchFacts> facts);

  const std::shared_ptr<const LaunchFacts>& facts() const { return facts_; }

  void add(std::shared_ptr<WorkerTurn> turn);
  void remove(const WorkerTurn& turn);
  // Gives waiting turns to workers. Call when a worker has room again.
  void pump();
  // The worker is retired: replaces it.
  void on_retired(const std::shared_ptr<Worker>& worker);
  // The worker's process has ended. Then call `add_again` for its turns, and `pump`.
  void on_worker_gone(const Worker& worker);
  // Queues a turn that its worker had not taken. Returns false if too many workers have died with it, or
  // after `shut_down`.
  bool add_again(const std::shared_ptr<WorkerTurn>& turn);
  // Sets the most workers, and the most turns of all of them together.
  void scale(int workers, int concurrency);
  // Ends each worker once it has no turn.
  void end_when_idle();
  // The executor is gone: ends all workers.
  void shut_down();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Slot {
    std::shared_ptr<Worker> worker;  // shared with its process, which may outlive the slot's use of it
    std::chrono::milliseconds delay{0};
    TimePoint not_before{};
  };

  void give_turns();
  void end_idle();
  std::shared_ptr<Worker> pick(WorkerTurn& turn);
  base::Result<std::shared_ptr<Worker>> start_worker();
  bool may_start() const;
  void wait_for_slot();
  void make_room();

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor
  std::size_t turns_max_;                           // for each worker
  std::size_t workers_;                             // the number of slots in use
  std::vector<Slot> slots_;                         // at least `workers_`; surplus ones get empty
  std::vector<std::shared_ptr<Worker>> retired_;    // oldest first; shared with their processes
  std::deque<std::shared_ptr<WorkerTurn>> waiting_;
  bool timer_set_ = false;
  bool room_timer_set_ = false;
  bool ends_when_idle_ = false;
  bool shut_down_ = false;
};

}  // namespace baton::agents
