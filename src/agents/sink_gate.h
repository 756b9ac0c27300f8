// SinkGate: the way of an executor to its turn's sink, which the owner of the RunningTurn can close.
//
// Threads: any. Calls to the sink come one at a time. After `close` has returned no call is under way and
// none will come, except the very call from within which `close` was called, and the sink is let go of. No
// lock is held while the sink runs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "agents/executor.h"

namespace baton::agents {

class SinkGate {
 public:
  explicit SinkGate(std::shared_ptr<TurnSink> sink) : sink_(std::move(sink)) {}

  // Calls `call(TurnSink&)` unless the gate is closed; says whether it did. Not from within another call.
  template <class F>
  bool use(F&& call) {
    if (!enter()) return false;
    call(*sink_);
    leave();
    return true;
  }

  void close();
  bool closed() const;

 private:
  bool enter();
  void leave();

  std::shared_ptr<TurnSink> sink_;  // let go of once the gate is closed
  mutable std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  bool busy_ = false;
  std::thread::id by_;
};

}  // namespace baton::agents
