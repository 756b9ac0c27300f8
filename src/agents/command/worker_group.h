// WorkerGroup: the workers of one agent and the turns that wait for one.
//
// Workers are started when a turn needs one, and again when they have died; one that keeps dying before it
// has done anything waits longer each time. A turn goes to an idle worker, else to a new one as long as there
// may be more, else to the one with the fewest turns; one that owes an answer to a cancel comes last. The
// engine bounds how many turns there are (concurrency). A retired worker is replaced at once; workers and
// retired ones together are at most twice the agent's `workers`, and where that is too few the one that was
// retired first is ended. Threads: the host's only.
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
  // It gets no more turns, and has made way for another.
  void on_retired(const std::shared_ptr<Worker>& worker);
  // Its process has ended. What it leaves is added again, then pumped.
  void on_worker_gone(const Worker& worker);
  // A turn that its worker had not taken. False: too many workers have died before it.
  bool add_again(const std::shared_ptr<WorkerTurn>& turn);
  // Ends each process once it has no turn.
  void end_when_idle();
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
  base::Result<std::shared_ptr<Worker>> start_worker();
  bool may_start() const;
  void wait_for_slot();

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor
  const std::size_t turns_max_;                     // of one worker
  std::vector<Slot> slots_;
  std::vector<std::shared_ptr<Worker>> retired_;  // in the order in which they were; also of their processes
  std::deque<std::shared_ptr<WorkerTurn>> waiting_;
  bool timer_set_ = false;
  bool ends_when_idle_ = false;
  bool shut_down_ = false;
};

}  // namespace baton::agents
