// FunctionExecutor: an agent that is a C++ function. For tests and for programs that embed Baton.
//
// The function runs on a WorkerPool and may block. The turn ends when it returns; an exception fails the
// turn. It cannot be stopped from outside: after a deadline or at shutdown its calls to the FunctionTurn have
// no effect, and it should check `cancelled()` and return.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agents/executor.h"
#include "agents/turn_output.h"
#include "base/worker_pool.h"

namespace baton::agents {

// A turn as its function sees it. Only for the thread the function runs on.
class FunctionTurn {
 public:
  class Shared;
  FunctionTurn(const Turn& input, std::shared_ptr<Shared> shared);

  const Turn& input() const { return input_; }
  // Whether the agent was asked to stop, or the turn was dropped.
  bool cancelled() const;
  // Blocks until `cancelled()`, but no longer than `at_most`. Returns `cancelled()`.
  bool wait_cancelled(std::chrono::milliseconds at_most) const;

  // These block while the sink has no room.
  void text(std::string delta);
  void emit(task::EventBody body);

  // Blocks until the child has stopped. Returns a result without a task after a cancel or a drop.
  DelegateResult delegate(DelegateRequest request);

  // Ends the turn; only the first call counts. A function that returns without it ends the turn as Done or,
  // if it was cancelled, as Canceled.
  void finish(Outcome outcome);

 private:
  const Turn& input_;
  const std::shared_ptr<Shared> shared_;  // shared with the Execution
  TurnOutput output_;
};

class FunctionExecutor final : public Executor {
 public:
  using Function = std::function<void(FunctionTurn&)>;

  // The pool must outlive this. Stop it before destroying what the function uses.
  FunctionExecutor(base::WorkerPool& pool, Function function);

  // If the pool's queue is full, the turn fails.
  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override;

 private:
  base::WorkerPool& pool_;
  const std::shared_ptr<const Function> function_;  // shared with the turns that run
};

}  // namespace baton::agents
