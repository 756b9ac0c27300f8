// Histogram: counts durations in buckets with fixed bounds, as Prometheus does.
//
// Threads: any, without a lock. An observation is two relaxed additions and allocates nothing. A snapshot
// may miss concurrent observations, but its count is always the sum of its buckets.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::base {

class Histogram {
 public:
  using Time = std::chrono::nanoseconds;
  // Upper bounds in seconds, rising; they must outlive the histogram, so they are constants.
  using Bounds = std::span<const double>;
  static constexpr std::size_t kBoundsMax = 16;

  // `bounds`: at most kBoundsMax. Times above the last bound are counted in a bucket of their own.
  explicit Histogram(Bounds bounds) : bounds_(bounds.first(std::min(bounds.size(), kBoundsMax))) {}

  void observe(Time time) {
    const double seconds = std::chrono::duration<double>(time).count();
    const auto bucket = std::ranges::lower_bound(bounds_, seconds) - bounds_.begin();
    counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(time.count(), std::memory_order_relaxed);
  }

  struct Snapshot {
    Bounds bounds;
    std::vector<std::uint64_t> counts;  // one for each bound, then one for times above all; not cumulative
    std::uint64_t count = 0;
    double sum = 0;  // in seconds

    // Returns the `q` quantile (0 to 1) in seconds, interpolated as Prometheus does. Returns the last bound
    // if the quantile is above it, and 0 if there are no observations.
    double quantile(double q) const;
  };
  Snapshot snapshot() const;

 private:
  const Bounds bounds_;
  std::array<std::atomic<std::uint64_t>, kBoundsMax + 1> counts_{};
  std::atomic<std::int64_t> sum_{0};  // nanoseconds
};

// Bounds for flushes, from those of a fast disk to those of a failing one.
inline constexpr std::array kFlushBounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                         0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   2.5};
// Bounds for requests. Most end within milliseconds, but a request may wait for a turn.
inline constexpr std::array kRequestBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                           0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  60.0, 600.0};
// Bounds for turns and their wait for a slot, from an agent that answers at once to one that runs for an
// hour.
inline constexpr std::array kTurnBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,   0.25,
                                        0.5,   1.0,    2.5,   10.0, 30.0,  60.0, 600.0, 3600.0};

}  // namespace baton::base
