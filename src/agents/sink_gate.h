// SinkGate: an executor's access to its turn's sink, which the owner of the Execution can close.
//
// Threads: any. Calls to the sink come one at a time, with no lock held. After `close` has returned, no call
// is running or will start, and the sink is released. If `close` is called from within a call, that call goes
// on, and the sink is released at its end.
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

  // Calls `call(TurnSink&)` unless the gate is closed; returns whether it did. Not from within another call.
  template <class F>
  bool use(F&& call) {
    if (!enter()) return false;
    struct Leaving {
      SinkGate& gate;
      ~Leaving() { gate.leave(); }
    } const leaving{*this};
    call(*sink_);
    return true;
  }

  void close();
  bool closed() const;

 private:
  bool enter();
  void leave();

  std::shared_ptr<TurnSink> sink_;  // released once the gate is closed
  mutable std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  bool busy_ = false;
  std::thread::id by_;
};

}  // namespace baton::agents
