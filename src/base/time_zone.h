// TimeZone: a place's local time, from the system's time zone database (RFC 8536, /usr/share/zoneinfo).
//
// Threads: immutable. Times after 2199 have the offset of that year's end.
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

// A wall-clock reading without a time zone.
using LocalTime = std::chrono::local_seconds;

class TimeZone {
 public:
  // Loads a zone by name, such as "Europe/Berlin"; "UTC" is always known. Fails with not_found (no such zone,
  // or no database) or invalid_argument (not a zone name, or a file that cannot be read).
  static Result<TimeZone> load(std::string_view name,
                               const std::filesystem::path& folder = "/usr/share/zoneinfo");
  // Reads a zone from the content of a time zone file.
  static Result<TimeZone> read(std::string_view file);

  LocalTime to_local(Timestamp at) const;
  // Returns the time when the zone's clocks show `local`: the first time if they show it twice, or the moment
  // of the clock change if they skip it.
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
