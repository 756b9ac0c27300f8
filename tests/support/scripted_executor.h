// ScriptedExecutor: an agent that the test controls. Each turn that begins is appended to a list; the test
// removes it from there and calls its sink.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agents/executor.h"
#include "support/patience.h"

namespace baton::test {

class ScriptedExecutor final : public agents::Executor {
 public:
  // A turn under way, as the test sees it.
  struct Running {
    agents::Turn turn;
    std::shared_ptr<agents::TurnSink> sink;
    std::string thread;  // the name of the thread that started the turn
    bool canceled = false;
    bool let_go = false;
    std::vector<agents::DelegateResult> delivered;
  };
  using RunningPtr = std::shared_ptr<Running>;

  std::unique_ptr<agents::Execution> start(agents::Turn turn,
                                           std::shared_ptr<agents::TurnSink> sink) override {
    auto running = std::make_shared<Running>();
    running->turn = std::move(turn);
    running->sink = std::move(sink);
    char thread[16] = {};
    pthread_getname_np(pthread_self(), thread, sizeof thread);
    running->thread = thread;
    auto handle = std::make_unique<Handle>(*this, running);
    change([&] { begun_.push_back(running); });
    return handle;
  }

  // Waits for the next turn to begin; null on timeout.
  RunningPtr next() {
    RunningPtr running;
    wait_for([&] { return !begun_.empty(); });
    std::lock_guard lock(mutex_);
    if (begun_.empty()) return nullptr;
    running = begun_.front();
    begun_.pop_front();
    return running;
  }

  // Waits until `condition` holds, which is evaluated under the executor's lock. False on timeout.
  template <class F>
  bool wait_for(F&& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience(), std::forward<F>(condition));
  }

  std::size_t waiting() {
    std::lock_guard lock(mutex_);
    return begun_.size();
  }

 private:
  class Handle final : public agents::Execution {
   public:
    Handle(ScriptedExecutor& owner, RunningPtr running) : owner_(owner), running_(std::move(running)) {}
    ~Handle() override {
      owner_.change([&] { running_->let_go = true; });
    }
    void cancel() override {
      owner_.change([&] { running_->canceled = true; });
    }
    void deliver(agents::DelegateResult result) override {
      owner_.change([&] { running_->delivered.push_back(std::move(result)); });
    }

   private:
    ScriptedExecutor& owner_;
    const RunningPtr running_;
  };

  template <class F>
  void change(F&& f) {
    std::lock_guard lock(mutex_);
    f();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RunningPtr> begun_;
};

}  // namespace baton::test
