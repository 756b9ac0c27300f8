// Replaces src/base/event_loop.h: timers and posted functions on a fiber (fibers.h). No descriptors.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/threads.h"

namespace baton::base {

class EventLoop {
 public:
  using Callback = std::function<void()>;
  using TimerId = std::uint64_t;  // 0 is never a timer

  explicit EventLoop(const std::string&) {}
  ~EventLoop() { stop(); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void start();
  void stop();
  void post(Callback callback);
  TimerId after(std::chrono::milliseconds delay, Callback callback);
  void cancel(TimerId timer);
  bool on_loop_thread() const { return this_thread_id() == thread_.get_id(); }

 private:
  void run();

  simulation::Fibers::WaitList asleep_;
  std::deque<Callback> posted_;
  std::map<std::pair<simulation::Time, TimerId>, Callback> timers_;
  std::map<TimerId, simulation::Time> deadlines_;
  TimerId last_timer_ = 0;
  bool stopping_ = false;
  Thread thread_;
};

}  // namespace baton::base
