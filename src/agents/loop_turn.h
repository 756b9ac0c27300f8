// LoopTurn: the base of a turn that needs no thread of its own. Its steps run on an event loop's thread, and
// what blocks or takes long on a pool's. It has the turn's input and its output.
// LoopExecution: the engine's hold on such a turn.
//
// A turn T derives from LoopTurn<T>, is held by shared_ptr, and has `begin`, `cancel` and `deliver`, which
// may be called from any thread; and, for LoopTurn, `release`, which ends whatever is under way and sets
// `is_over_`, `break_down(why)`, for a step that has thrown, and `finish(outcome)`. It may have
// `stop_waiting`, which ends the waits of what runs elsewhere, from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/executor.h"
#include "agents/sink_gate.h"
#include "agents/turn_output.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/worker_pool.h"

namespace baton::agents {

// What all such turns share, and outlives them.
struct LoopServices {
  base::EventLoop& loop;       // where the turns are
  base::WorkerPool& blocking;  // for reading files and writing or telling what is large
  base::WorkerPool& decoding;  // for decoding long texts, which may wait for memory that other turns hold
};

template <class T>
class LoopTurn : public std::enable_shared_from_this<T> {
 public:
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  // The sink is not used any more. The turn's memory is released on the loop's thread. From any thread.
  static void drop(std::shared_ptr<T> turn) {
    turn->gate_.close();
    if constexpr (requires { turn->stop_waiting(); }) turn->stop_waiting();
    base::EventLoop& loop = turn->loop();
    loop.post([turn = std::move(turn)] { turn->end_now([](T& self) { self.release(); }); });
  }

 protected:
  // The loop must outlive the turn.
  LoopTurn(base::EventLoop& loop, Turn input, std::shared_ptr<TurnSink> sink)
      : gate_(std::move(sink)), input_(std::move(input)), turn_(gate_, input_.reply_ids), loop_(loop) {}
  ~LoopTurn() = default;

  base::EventLoop& loop() const { return loop_; }
  base::LogMembers log_members() const {
    return {{"agent", input_.agent.value}, {"task", input_.task.value}};
  }

  // Has the loop's thread run a step. From any thread.
  template <class F>
  void post(F&& step) {
    loop_.post(
        [self = this->shared_from_this(), step = std::forward<F>(step)]() mutable { self->run(step); });
  }

  // Like `post`, but waits while the turn is `away`.
  template <class F>
  void post_when_back(F&& step) {
    loop_.post([self = this->shared_from_this(), step = std::forward<F>(step)]() mutable {
      self->run_when_back(std::move(step));
    });
  }

  // Has the loop's thread run a step that ends the turn. Waits only for work that a thread is doing: what
  // still waits for a thread is left out. From any thread.
  template <class F>
  void post_end(F&& step) {
    loop_.post([self = this->shared_from_this(), step = std::forward<F>(step)]() mutable {
      self->end_now(std::move(step));
    });
  }

  // Runs a step unless the turn is over. On the loop's thread.
  template <class F>
  void run(F&& step) {
    if (is_over_) return;
    const auto self = this->shared_from_this();
    try {
      step(*self);
    } catch (const std::exception& error) {
      run_when_back(Step([why = std::string(error.what())](T& failed) { failed.break_down(why); }));
    }
  }

  // Runs `work(turn)` on a thread of the pool, and then `then(turn)` on the loop's. `work` runs even if the
  // turn ends meanwhile, so it may only use what nothing else uses until `then`.
  template <class Work, class Then>
  void elsewhere(base::WorkerPool& pool, Work work, Then then) {
    const bool is_taken = pool.try_submit([self = this->shared_from_this(), work, then]() mutable {
      T& turn = *self;
      std::function<void()> next = [self, then] { self->run(then); };
      try {
        work(turn);
      } catch (const std::exception& error) {
        next = [self, why = std::string(error.what())] {
          self->run([&](T& failed) { failed.break_down(why); });
        };
      }
      self.reset();
      turn.loop().post(std::move(next));
    });
    if (!is_taken)
      static_cast<T&>(*this).finish(Failed{"too many turns are running at once; try again later"});
  }

  // Like `elsewhere`, but until `then` the turn is the pool's thread's: `post_when_back` and `drop` wait.
  // Whatever else calls back meanwhile may use only what `work` does not.
  template <class Work, class Then>
  void go_away(base::WorkerPool& pool, Work work, Then then) {
    is_away_ = true;
    has_begun_ = std::make_shared<std::atomic<bool>>(false);
    const bool is_taken = pool.try_submit(
        [self = this->shared_from_this(), has_begun = has_begun_, work = std::move(work), then]() mutable {
          T& turn = *self;
          if (has_begun->exchange(true)) return turn.loop().post([self = std::move(self)] {});
          std::optional<std::string> why;
          try {
            work(turn);
          } catch (const std::exception& error) {
            why = error.what();
          }
          turn.loop().post([self = std::move(self), then, why] {
            self->come_back([then, why](T& now) {
              if (why) return now.break_down(*why);
              then(now);
            });
          });
        });
    if (is_taken) return;
    come_back([](T& turn) { turn.finish(Failed{"too many turns are running at once; try again later"}); });
  }

  // Backpressure: returns false if the sink wants no more output for a while. It then has the loop's thread
  // run `then(turn)`, once.
  template <class F>
  bool has_room(F then) {
    bool has_room = true;
    gate_.use([&](TurnSink& sink) {
      has_room = sink.ready([weak = this->weak_from_this(), then] {
        if (const auto self = weak.lock()) self->post_when_back(then);
      });
    });
    return has_room;
  }

  SinkGate gate_;
  const Turn input_;
  TurnOutput turn_;
  bool is_over_ = false;

 private:
  using Step = std::function<void(T&)>;

  void run_when_back(Step step) {
    if (is_away_) return late_.push_back(std::move(step));
    run(step);
  }

  void end_now(Step step) {
    if (!is_away_) return run(step);
    if (has_begun_->exchange(true)) return late_.push_back(std::move(step));
    late_.push_front(std::move(step));
    run_late();
  }

  // What came late is first: nobody may want the turn any more.
  void come_back(Step then) {
    late_.push_back(std::move(then));
    run_late();
  }

  void run_late() {
    is_away_ = false;
    while (!is_away_ && !late_.empty()) {
      const Step step = std::move(late_.front());
      late_.pop_front();
      run(step);
    }
  }

  base::EventLoop& loop_;
  bool is_away_ = false;
  // Shared with the pool: a thread has begun the work that the turn is away for, or the work is left out.
  std::shared_ptr<std::atomic<bool>> has_begun_;
  std::deque<Step> late_;  // came while it was away
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

// Makes a turn of `args` and begins it.
template <class T, class... Args>
std::unique_ptr<Execution> begin_loop_turn(Args&&... args) {
  auto turn = std::make_shared<T>(std::forward<Args>(args)...);
  turn->begin();
  return std::make_unique<LoopExecution<T>>(std::move(turn));
}

}  // namespace baton::agents
