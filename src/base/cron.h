// Cron: recurring times, in the syntax of crontab(5).
//
// An expression has five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday).
// A field is a list of `*`, numbers, ranges and steps ("*/15", "1-5", "0-30/10"); months and weekdays may
// also be English names ("jan", "mon"). If both day fields are restricted, a match of either is enough. The
// nicknames @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly are accepted instead.
// Threads: immutable.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/time_zone.h"

namespace baton::base {

class Cron {
 public:
  // Fails with invalid_argument, whose text names the problem. This includes expressions that never match
  // ("0 0 30 2 *").
  static Result<Cron> parse(std::string_view text);

  // Returns the first matching time after `after`. An hour field that begins with `*` follows the local clock
  // through its changes: times that the clock skips do not occur, and times that it shows twice occur twice.
  // Other hour fields are fixed times, which occur once on each matching day. If the clock skips a fixed
  // time, it occurs at the moment of the change; if the clock shows it twice, the first time counts.
  std::optional<Timestamp> next(Timestamp after, const TimeZone& zone) const;

 private:
  Cron() = default;
  bool has_day(std::chrono::local_days day) const;
  std::optional<Timestamp> next_shown(Timestamp after, const TimeZone& zone) const;
  std::optional<Timestamp> next_fixed(Timestamp after, const TimeZone& zone) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_hour_ = false, any_day_ = false, any_weekday_ = false;  // the field begins with `*`
};

}  // namespace baton::base
