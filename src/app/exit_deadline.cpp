#include "app/exit_deadline.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>

namespace baton::app {

ExitDeadline::~ExitDeadline() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExitDeadline::arm(std::chrono::milliseconds grace) {
  const auto until = std::chrono::steady_clock::now() + grace + kMargin;
  std::lock_guard lock(mutex_);
  until_ = std::min(until_.value_or(until), until);
  changed_.notify_all();
  if (thread_.joinable() || over_) return;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "exit-deadline");
}

void ExitDeadline::run() {
  std::unique_lock lock(mutex_);
  while (!over_ && std::chrono::steady_clock::now() < *until_) {
    const auto until = *until_;
    changed_.wait_until(lock, until);
  }
  if (over_) return;
  spdlog::critical("some threads did not stop in time; exiting without them{}",
                   settled_ ? "" : "; unfinished turns resume after the next start");
  spdlog::default_logger()->flush();
  std::_Exit(settled_ ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace baton::app
