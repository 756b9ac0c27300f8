// LoopTurn: the base of a turn that needs no thread of its own. Its steps run on an event loop's thread.
// LoopExecution: the engine's hold on such a turn.
//
// A turn T derives from LoopTurn<T>, is held by shared_ptr, and has `cancel` and `deliver`, which may be
// called from any thread; and, for LoopTurn, `release`, which ends whatever is under way and sets `is_over_`,
// and `break_down(why)`, for a step that has thrown.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "agents/executor.h"
#include "agents/sink_gate.h"
#include "base/event_loop.h"

namespace baton::agents {

template <class T>
class LoopTurn : public std::enable_shared_from_this<T> {
 public:
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  // The sink is not used any more. The turn's memory is released on the loop's thread. From any thread.
  static void drop(std::shared_ptr<T> turn) {
    turn->gate_.close();
    base::EventLoop& loop = turn->loop();
    loop.post([turn = std::move(turn)] { turn->run([](T& self) { self.release(); }); });
  }

 protected:
  // The loop must outlive the turn.
  LoopTurn(base::EventLoop& loop, std::shared_ptr<TurnSink> sink) : gate_(std::move(sink)), loop_(loop) {}
  ~LoopTurn() = default;

  base::EventLoop& loop() const { return loop_; }

  // Has the loop's thread run a step. From any thread.
  template <class F>
  void post(F&& step) {
    loop_.post(
        [self = this->shared_from_this(), step = std::forward<F>(step)]() mutable { self->run(step); });
  }

  // Runs a step unless the turn is over. On the loop's thread.
  template <class F>
  void run(F&& step) {
    if (is_over_) return;
    const auto self = this->shared_from_this();
    try {
      step(*self);
    } catch (const std::exception& error) {
      self->break_down(error.what());
    }
  }

  SinkGate gate_;
  bool is_over_ = false;

 private:
  base::EventLoop& loop_;
};

template <class T>
class LoopExecution final : public Execution {
 public:
  explicit LoopExecution(std::shared_ptr<T> turn) : turn_(std::move(turn)) {}
  ~LoopExecution() override { T::drop(std::move(turn_)); }
  void cancel() override { turn_->cancel(); }
  void deliver(DelegateResult result) override { turn_->deliver(std::move(result)); }

 private:
  std::shared_ptr<T> turn_;  // shared with its callbacks
};

}  // namespace baton::agents
