// BusyTime: the longest recent callback of a shared thread. Such a callback must not block, because the
// thread's other callbacks wait for it.
//
// Threads: a BusyTime is created and updated (`note`) by the thread that it measures; `all` may be called
// from any thread. Threads with the same name are reported as one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace baton::base {

class BusyTime {
 public:
  // Times are those since the epoch of the steady clock.
  using Nanoseconds = std::chrono::nanoseconds;
  // `all` returns the longest callback of the current window and the one before.
  static constexpr std::chrono::seconds kWindow{60};

  // `thread`: the name that `all` reports.
  explicit BusyTime(std::string thread) : thread_(std::move(thread)) {
    Registry& registry = registry_of_all();
    std::lock_guard lock(registry.mutex);
    registry.members.push_back(this);
  }
  ~BusyTime() {
    Registry& registry = registry_of_all();
    std::lock_guard lock(registry.mutex);
    std::erase(registry.members, this);
  }
  BusyTime(const BusyTime&) = delete;
  BusyTime& operator=(const BusyTime&) = delete;

  // Records a callback that ran from `begin` to `end`.
  void note(Nanoseconds begin, Nanoseconds end) {
    const std::int64_t took = (end - begin).count();
    if (end.count() - window_.load(std::memory_order_relaxed) > in_nanoseconds(kWindow)) begin_window(end);
    if (took > longest_.load(std::memory_order_relaxed)) longest_.store(took, std::memory_order_relaxed);
  }

  // The longest callback of each thread in the last one to two windows, by the thread's name.
  static std::map<std::string, Nanoseconds> all(
      Nanoseconds now = std::chrono::steady_clock::now().time_since_epoch()) {
    std::map<std::string, Nanoseconds> longest;
    Registry& registry = registry_of_all();
    std::lock_guard lock(registry.mutex);
    for (const BusyTime* one : registry.members) {
      Nanoseconds& found = longest[one->thread_];
      found = std::max(found, one->longest(now));
    }
    return longest;
  }

 private:
  struct Registry {
    std::mutex mutex;
    std::vector<const BusyTime*> members;
  };
  static Registry& registry_of_all() {
    static Registry registry;
    return registry;
  }

  static constexpr std::int64_t in_nanoseconds(Nanoseconds time) { return time.count(); }

  void begin_window(Nanoseconds now) {
    const std::int64_t since = now.count() - window_.load(std::memory_order_relaxed);
    const bool is_next = since <= in_nanoseconds(2 * kWindow);
    before_.store(is_next ? longest_.load(std::memory_order_relaxed) : 0, std::memory_order_relaxed);
    longest_.store(0, std::memory_order_relaxed);
    window_.store(now.count(), std::memory_order_relaxed);
  }

  // An idle thread starts no new windows, so the age of the current one is checked here.
  Nanoseconds longest(Nanoseconds now) const {
    const std::int64_t since = now.count() - window_.load(std::memory_order_relaxed);
    if (since > in_nanoseconds(2 * kWindow)) return Nanoseconds(0);
    const std::int64_t longest = longest_.load(std::memory_order_relaxed);
    if (since > in_nanoseconds(kWindow)) return Nanoseconds(longest);
    return Nanoseconds(std::max(longest, before_.load(std::memory_order_relaxed)));
  }

  const std::string thread_;
  // The start of the current window, and the longest callback of it and of the one before; in nanoseconds of
  // the steady clock.
  std::atomic<std::int64_t> window_{0}, longest_{0}, before_{0};
};

}  // namespace baton::base
