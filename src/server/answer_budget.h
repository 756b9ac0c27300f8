// AnswerBudget: bounds the memory that large answers take together, from the reading of their task until
// their last byte has left. An answer for which there is no room waits its turn.
//
// One caller's answers take at most half of the budget, but always one if there is room, so that a caller who
// does not read its answers leaves room for the others'. An answer larger than the budget is let in alone.
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
  // What one answer holds of the budget. Given back when it is destroyed.
  class Share {
   public:
    Share(std::shared_ptr<State> state, std::string caller, std::size_t bytes);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // It turned out, or has become, smaller. Not from two threads at once.
    void shrink(std::size_t bytes);

   private:
    friend State;
    const std::shared_ptr<State> state_;  // shared with the budget
    const std::string caller_;
    std::size_t bytes_;
    bool is_held_ = false;  // else it waits for them; under the lock of the budget until it is let in
  };
  using SharePtr = std::shared_ptr<Share>;  // held by whatever the memory goes through
  // Null: there was no room for `wait_max`, or too many are waiting.
  using Ready = std::function<void(SharePtr)>;

  // At most `waiting_max` answers wait at a time, none of them longer than `wait_max`.
  AnswerBudget(std::size_t bytes_max, std::size_t waiting_max, std::chrono::milliseconds wait_max,
               base::WorkerPool& pool, base::EventLoop& timers);
  ~AnswerBudget();
  AnswerBudget(const AnswerBudget&) = delete;
  AnswerBudget& operator=(const AnswerBudget&) = delete;

  // Calls `ready` once: from this thread if there is room now, later on the pool. An empty caller is nobody
  // in particular, and bounded by no share.
  void enter(const std::string& caller, std::size_t bytes, Ready ready);

 private:
  const std::chrono::milliseconds wait_max_;
  base::EventLoop& timers_;
  const std::shared_ptr<State> state_;  // shared with the shares and the timers
};

}  // namespace baton::server
