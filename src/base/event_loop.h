// EventLoop: one thread that waits for file descriptors, timers and posted functions.
//
// Threads: `post`, `after` and `cancel` may be called from any thread; `watch`, `change` and `forget` only on
// the loop's own thread (post a function that calls them) or before `start`. Every callback runs on the
// loop's thread and must not block.
// Ownership: the loop does not own descriptors or anything that callbacks refer to. `stop` waits for the
// running callback, runs no others, and joins the thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "base/unique_fd.h"

namespace baton::base {

class EventLoop {
 public:
  using Callback = std::function<void()>;
  // Gets the epoll event bits that are ready (EPOLLIN, EPOLLOUT, EPOLLHUP, ...).
  using ReadyCallback = std::function<void(std::uint32_t)>;
  using TimerId = std::uint64_t;  // 0 is never a timer

  // `name` is the thread's name, at most 15 characters.
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void start();
  void stop();

  // Runs `callback` soon. Posted functions run in the order they were posted.
  void post(Callback callback);

  // Runs `callback` once, after at least `delay`.
  TimerId after(std::chrono::milliseconds delay, Callback callback);
  // Cancels the timer, unless it is firing right now. Unknown ids are ignored.
  void cancel(TimerId timer);

  // `events` are epoll bits; level-triggered unless EPOLLET is among them.
  void watch(int fd, std::uint32_t events, ReadyCallback callback);
  void change(int fd, std::uint32_t events);
  void forget(int fd);

  bool on_loop_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Inbox {
    std::vector<Callback> posted;
    std::map<std::pair<TimePoint, TimerId>, Callback> timers;
    std::unordered_map<TimerId, TimePoint> deadlines;
    TimerId next_timer = 1;
    bool awake = false;  // the loop is awake or already being woken
  };

  void run();
  void wake();
  int milliseconds_to_next_timer();
  void run_posted();
  void run_timers();

  const std::string name_;
  UniqueFd epoll_;
  UniqueFd wakeup_;
  Guarded<Inbox> inbox_;
  std::unordered_map<int, std::shared_ptr<ReadyCallback>> ready_;  // loop thread only
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace baton::base
