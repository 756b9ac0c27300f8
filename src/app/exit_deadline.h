// ExitDeadline: ends the program if it does not stop in time, for example because an agent's thread computes
// or waits forever. No data is lost: all acknowledged data is on disk, and unfinished turns resume at the
// next start.
//
// Threads: any. Destruction before the deadline disarms it.
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
  // The time in addition to the grace of the turns, to end connections, webhooks and threads.
  static constexpr std::chrono::milliseconds kMargin{4'000};

  ~ExitDeadline();

  // Ends the program `grace` plus kMargin from now, or sooner if an earlier call set an earlier deadline.
  void arm(std::chrono::milliseconds grace);
  // Call when all changes are durable: from then on the deadline ends the program with success.
  void is_settled() { settled_ = true; }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  bool over_ = false;
  std::atomic<bool> settled_{false};
  std::thread thread_;  // started by the first `arm`
};

}  // namespace baton::app
