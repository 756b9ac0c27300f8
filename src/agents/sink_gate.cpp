#include "agents/sink_gate.h"

namespace baton::agents {

bool SinkGate::enter() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return !busy_ || closed_; });
  if (closed_) return false;
  busy_ = true;
  by_ = std::this_thread::get_id();
  return true;
}

void SinkGate::leave() {
  std::shared_ptr<TurnSink> dropped;
  {
    std::lock_guard lock(mutex_);
    busy_ = false;
    if (closed_) dropped = std::move(sink_);
  }
  left_.notify_all();
}

void SinkGate::close() {
  std::shared_ptr<TurnSink> dropped;
  std::unique_lock lock(mutex_);
  closed_ = true;
  if (busy_ && by_ == std::this_thread::get_id()) return;
  left_.wait(lock, [this] { return !busy_; });
  dropped = std::move(sink_);
  lock.unlock();
}

bool SinkGate::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace baton::agents
