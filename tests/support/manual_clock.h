// ManualClock: a clock that only the test advances. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace baton::test {

class ManualClock final : public base::Clock {
 public:
  explicit ManualClock(std::int64_t start_ms = 1'700'000'000'000) : now_ms_(start_ms) {}

  base::Timestamp now() const override { return base::from_ms(now_ms_); }
  void advance(base::Duration by) { now_ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace baton::test
