// EventLoop: one thread that waits for file descriptors, timers and posted functions.
//
// Threads: `post`, `after` and `cancel` may be called from any thread, even after the loop has stopped;
// `watch`, `forget` and `now` only on the loop's own thread, or before `start`. Every callback runs on the
// loop's thread, must not block, and ends the program if it throws. Wake-ups of other threads are deferred to
// the end of the round (base::Burst). Ownership: the loop does not own descriptors or anything that callbacks
// refer to. `stop` waits for the running callback, runs no others, joins the thread, and drops what was
// posted and all timers; later ones are dropped at once. So nothing that a callback owns outlives `stop`.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/burst.h"
#include "base/guarded.h"
#include "base/unique_fd.h"

namespace baton::base {

class EventLoop {
 public:
  using Callback = std::function<void()>;
  // Gets the epoll event bits that are ready (EPOLLIN, EPOLLOUT, EPOLLHUP, ...).
  using Ready = std::function<void(std::uint32_t)>;
  using TimePoint = std::chrono::steady_clock::time_point;
  using TimerId = std::uint64_t;  // 0 is never a timer

  // `name` is the thread's name, at most 15 characters. Throws std::system_error if no descriptor is free.
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void start();
  void stop();

  // Runs the loop on the calling thread, instead of on its own, until `is_over` returns true, which is asked
  // after each round. Wake-ups are not deferred, so callbacks may block.
  void run_here(const std::function<bool()>& is_over);

  // Runs `callback` soon. Posted functions run in the order they were posted.
  void post(Callback callback);

  // Runs `callback` once, after at least `delay`, and after all callbacks posted before this call.
  TimerId after(std::chrono::milliseconds delay, Callback callback);
  // Cancels the timer, unless it is firing right now. Unknown ids are ignored.
  void cancel(TimerId timer);

  // Calls `ready` when the descriptor is ready. The loop keeps a reference to `ready`, which must not move or
  // be destroyed until `forget`. `events` are epoll bits; level-triggered unless EPOLLET is among them.
  // Allocates nothing.
  void watch(int fd, std::uint32_t events, const Ready& ready);
  // Stops calling `ready`. It may then be destroyed, even from within itself.
  void forget(int fd, const Ready& ready);

  // Sets the function that runs at the end of each round. It returns the time of the next round, in case no
  // event comes earlier. Must be called before `start`.
  void each_round(std::function<TimePoint()> callback) { end_round_ = std::move(callback); }
  // The start of the current round.
  TimePoint now() const { return now_; }

  bool on_loop_thread() const { return running_ == this; }

 private:
  struct Inbox {
    std::vector<Callback> posted;
    std::map<std::pair<TimePoint, TimerId>, Callback> timers;
    std::unordered_map<TimerId, TimePoint> deadlines;
    TimerId next_timer = 1;
    bool closed = false;
  };
  struct Sleeper final : Wakeup {
    Sleeper();
    void wake() override;
    UniqueFd fd;
    std::atomic<bool> awake{false};  // true also while it is being woken
  };

  void run();
  void wait();  // for events, timers and posted functions
  void run_callbacks();
  void wake_if_asleep();
  int milliseconds_to_wait();
  void run_posted();
  void run_timers();

  static thread_local const EventLoop* running_;
  const std::string name_;
  UniqueFd epoll_;
  const std::shared_ptr<Sleeper> sleeper_ = std::make_shared<Sleeper>();  // a burst may outlive the loop
  Guarded<Inbox> inbox_;
  std::function<TimePoint()> end_round_;
  TimePoint now_{};
  TimePoint next_round_ = TimePoint::max();
  std::array<epoll_event, 512> events_;
  std::span<epoll_event> pending_;  // of this round's events
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace baton::base
