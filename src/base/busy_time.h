// BusyTime: the longest time that a callback of one of the shared threads has taken lately. Such a callback
// must not block, and all else of the thread waits for it.
//
// Threads: the thread that makes one notes its callbacks; `all` may be called from any thread. Several of one
// name count as one.
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
  // What `all` returns is the longest of this window and of the one before.
  static constexpr std::chrono::seconds kWindow{60};

  // `thread`: the name that is shown.
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

  // A callback has run from `begin` to `end`.
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

  // A thread that is idle begins no windows.
  Nanoseconds longest(Nanoseconds now) const {
    const std::int64_t since = now.count() - window_.load(std::memory_order_relaxed);
    if (since > in_nanoseconds(2 * kWindow)) return Nanoseconds(0);
    const std::int64_t longest = longest_.load(std::memory_order_relaxed);
    if (since > in_nanoseconds(kWindow)) return Nanoseconds(longest);
    return Nanoseconds(std::max(longest, before_.load(std::memory_order_relaxed)));
  }

  const std::string thread_;
  // When the window began, the longest of it and of the one before; nanoseconds of the steady clock.
  std::atomic<std::int64_t> window_{0}, longest_{0}, before_{0};
};

}  // namespace baton::base
