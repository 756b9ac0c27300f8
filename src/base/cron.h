// Cron: times that come again, as crontab(5) writes them.
//
// Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday). A field is a list
// of `*`, numbers, ranges and steps ("*/15", "1-5", "0-30/10"); months and weekdays have their English names
// ("jan", "mon"), too. If both days are given, either will do. Or one of @yearly, @annually, @monthly,
// @weekly, @daily, @midnight, @hourly. Threads: a Cron never changes.
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
  // Fails with invalid_argument and what is wrong; also if the time never comes ("0 0 30 2 *").
  static Result<Cron> parse(std::string_view text);

  // The first time after `after`. An hour that begins with `*` follows the clocks through every change: what
  // they leave out does not come, and what they show twice comes twice. Other hours are fixed times, each of
  // which comes once on its days: one that clocks leave out at the moment they are put forward, one that they
  // show twice the first time.
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
