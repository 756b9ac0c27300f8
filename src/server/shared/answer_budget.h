// AnswerBudget: bounds the total memory of large answers, each from the read of its task until its last byte
// is sent. An answer that does not fit waits in a queue.
//
// One caller's answers take at most half of the budget (a single answer may exceed that), so a caller that
// does not read its answers leaves room for others. An answer larger than the budget is admitted alone.
// Threads: any. Lifetime: the pool and the timers outlive the budget; shares may outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/worker_pool.h"

namespace baton::server {

class AnswerBudget {
  struct State;

 public:
  // One answer's part of the budget. The destructor returns it.
  class Share {
   public:
    Share(std::shared_ptr<State> state, std::string caller, std::size_t bytes);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Returns all but `bytes` to the budget. Not from two threads at once.
    void shrink(std::size_t bytes);

   private:
    friend State;
    const std::shared_ptr<State> state_;  // shared with the budget
    const std::string caller_;
    std::size_t bytes_;
    bool is_held_ = false;  // false while waiting; guarded by the budget's lock until admitted
  };
  using SharePtr = std::shared_ptr<Share>;  // held by each stage the memory passes through
  // Called with null if there was no room within `wait_max`, or too many answers were waiting.
  using Ready = std::function<void(SharePtr)>;

  // At most `waiting_max` answers wait at a time, each for at most `wait_max`.
  AnswerBudget(std::size_t bytes_max, std::size_t waiting_max, std::chrono::milliseconds wait_max,
               base::WorkerPool& pool, base::EventLoop& timers);
  ~AnswerBudget();
  AnswerBudget(const AnswerBudget&) = delete;
  AnswerBudget& operator=(const AnswerBudget&) = delete;

  // Calls `ready` once: at once on this thread if there is room, otherwise later on the pool. An empty caller
  // has no per-caller limit.
  void enter(const std::string& caller, std::size_t bytes, Ready ready);
  // Returns true if an answer waits because others hold the budget; one that waits for its caller's own share
  // does not count.
  bool lacks_room() const;

 private:
  const std::chrono::milliseconds wait_max_;
  base::EventLoop& timers_;
  const std::shared_ptr<State> state_;  // shared with the shares and the timers
};

}  // namespace baton::server
