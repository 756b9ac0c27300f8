// WorkerGroup: the workers of one agent and the turns that wait for one.
//
// Workers are started when a turn needs one, and again when they have died; one that keeps dying before it
// has done anything waits longer each time. A turn goes to an idle worker, else to a new one as long as there
// may be more, else to the one with the fewest turns. The engine bounds how many turns there are
// (concurrency). Threads: the host's only.
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
  // A worker has room again.
  void pump();
  void on_worker_gone(std::size_t slot, bool proved, std::vector<std::shared_ptr<WorkerTurn>> not_taken,
                      const std::string& why);
  // The executor is gone: ends all processes.
  void shut_down();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Slot {
    std::shared_ptr<Worker> worker;  // shared with its process, which may outlive the slot's use of it
    std::chrono::milliseconds delay{0};
    TimePoint not_before{};
  };

  std::shared_ptr<Worker> pick(WorkerTurn& turn);
  std::shared_ptr<Worker> start_worker(WorkerTurn& turn);
  void wait_for_slot();

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor
  const std::size_t turns_max_;                     // of one worker
  std::vector<Slot> slots_;
  std::deque<std::shared_ptr<WorkerTurn>> waiting_;
  bool timer_set_ = false;
  bool shut_down_ = false;
};

}  // namespace baton::agents
