// TimeZone: a place's local time, from the system's time zone database (RFC 8536, /usr/share/zoneinfo).
//
// Threads: a zone never changes. Times after 2199 have the offset of that year's end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace baton::base {

// A wall clock's reading, of no place.
using LocalTime = std::chrono::local_seconds;

class TimeZone {
 public:
  // "Europe/Berlin"; "UTC" is always known. Fails with not_found (no such zone, or no database) and
  // invalid_argument (no name, or a file that cannot be read).
  static Result<TimeZone> load(std::string_view name,
                               const std::filesystem::path& folder = "/usr/share/zoneinfo");
  // From a file's content.
  static Result<TimeZone> read(std::string_view file);

  LocalTime to_local(Timestamp at) const;
  // When clocks there show this. A reading that comes twice: the first time. One that is left out: the moment
  // at which it is.
  Timestamp to_utc(LocalTime local) const;

 private:
  struct Period {
    std::int64_t begin;   // seconds since 1970, UTC
    std::int64_t offset;  // local time - UTC
  };
  const Period& period_at(std::int64_t second) const;
  void follow_rule(std::string_view rule);

  std::vector<Period> periods_{{INT64_MIN, 0}};  // in order; the first one has no beginning
};

}  // namespace baton::base
