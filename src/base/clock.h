// Time: wall-clock instants in milliseconds, the form in which they are stored and shown, and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton::base {

using Duration = std::chrono::milliseconds;
// A wall-clock instant, UTC, in whole milliseconds.
using Timestamp = std::chrono::time_point<std::chrono::system_clock, Duration>;

// The source of the current time. Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
};

inline std::int64_t to_ms(Timestamp at) {
  return at.time_since_epoch().count();
}
inline Timestamp from_ms(std::int64_t ms) {
  return Timestamp(Duration(ms));
}

// "2026-11-21T10:00:00.123Z" (RFC 3339, UTC, always milliseconds).
std::string to_rfc3339(Timestamp at);

// Reads RFC 3339 as clients write it: any offset (none means UTC), any number of fraction digits (rounded up
// to milliseconds), and `T`, `t` or a blank between date and time. Returns nothing for anything else, leap
// seconds included.
std::optional<Timestamp> parse_rfc3339(std::string_view text);

// A clock for times that are compared over hours and never shown. It starts at the time of another clock,
// then advances with the time since boot, even while the machine sleeps. Later changes to the other clock
// have no effect. Threads: any.
class SteadyClock final : public Clock {
 public:
  explicit SteadyClock(const Clock& clock);
  Timestamp now() const override;

 private:
  const Duration begin_;  // offset from the time since boot
};

}  // namespace baton::base
