// ExitDeadline: ends the program if it does not stop in time, such as when a thread of an agent computes or
// waits for something that never comes. Nothing is lost by that: what others were told is on the disk, and
// turns that ran are taken up again at the next start.
//
// Threads: any. Destroyed in time, it does nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace baton::app {

class ExitDeadline {
 public:
  // What the program has beside the grace of its turns: for connections, webhooks and threads that end.
  static constexpr std::chrono::milliseconds kMargin{4'000};

  ~ExitDeadline();

  // The program is to end within `grace` and kMargin from now, or sooner if it was armed for that before.
  void arm(std::chrono::milliseconds grace);
  // Everything that was decided is durable: a program that is ended from now on has stopped well.
  void is_settled() { settled_ = true; }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  bool over_ = false;
  std::atomic<bool> settled_{false};
  std::thread thread_;  // none before it is armed
};

}  // namespace baton::app
