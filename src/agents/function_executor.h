// FunctionExecutor: an agent that is a C++ function. For tests and for programs that embed Baton.
//
// The function runs on a WorkerPool and may block; it gets a TurnContext and is through when it returns. What
// it throws fails the turn. When nobody waits for it any more (deadline, shutdown) it cannot be ended from
// outside: it must look at `cancelled()` or call something of the context, which then has no effect.
#pragma once

#include <functional>
#include <memory>

#include "agents/executor.h"
#include "base/worker_pool.h"

namespace baton::agents {

// What a function has of its turn. Only for the thread the function runs on.
class TurnContext {
 public:
  class Shared;
  TurnContext(const Turn& turn, std::shared_ptr<Shared> shared) : turn_(turn), shared_(std::move(shared)) {}

  const Turn& turn() const { return turn_; }
  // Somebody asked the agent to stop, or the turn was dropped.
  bool cancelled() const;
  // Blocks until then, at most for so long; says whether it is so.
  bool wait_cancelled(std::chrono::milliseconds at_most) const;

  // These wait while the sink has no room.
  void text(std::string delta);
  void reasoning(std::string delta);
  void emit(task::EventBody body);

  // Blocks until the child has stopped. After a cancel or a drop: a result without a task.
  DelegateResult delegate(DelegateRequest request);

  // Ends the turn; the first end counts. A function that returns without one is done, or, if it was
  // cancelled, has stopped.
  void finish(Outcome outcome);

 private:
  const Turn& turn_;
  const std::shared_ptr<Shared> shared_;  // shared with the RunningTurn
};

class FunctionExecutor final : public Executor {
 public:
  using Function = std::function<void(TurnContext&)>;

  // The pool must outlive this and is stopped before what the function uses dies.
  FunctionExecutor(base::WorkerPool& pool, Function function);

  // If the pool's queue is full the turn fails.
  std::unique_ptr<RunningTurn> start(Turn turn, std::shared_ptr<TurnSink> sink) override;

 private:
  base::WorkerPool& pool_;
  const std::shared_ptr<const Function> function_;  // shared with the turns that run
};

}  // namespace baton::agents
