#include "base/cron.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace baton::base {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNicknames{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};
// The next leap day is at most eight years away.
constexpr int kDaysMax = 9 * 366;

struct Field {
  std::string_view name;
  int least, most;
  std::span<const std::string_view> names = {};
  int first_name = 0;
};
constexpr std::array<Field, 5> kFields{{{"minute", 0, 59},
                                        {"hour", 0, 23},
                                        {"day of the month", 1, 31},
                                        {"month", 1, 12, kMonths, 1},
                                        {"day of the week", 0, 7, kWeekdays, 0}}};

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators, bool keeps_empty) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    if (keeps_empty || end != 0) {
      if (keeps_empty || !text.empty()) pieces.push_back(text.substr(0, end));
    }
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> value_of(const Field& field, std::string_view text) {
  const auto named = std::ranges::find(field.names, lower(text));
  if (named != field.names.end()) return field.first_name + static_cast<int>(named - field.names.begin());
  const auto number = number_in<int>(text);
  if (!number || *number < field.least || *number > field.most) return std::nullopt;
  return number;
}

// Calls `take` for each value of one member of a field's list. Returns false if the member is invalid.
template <class Take>
bool read_member(const Field& field, std::string_view member, const Take& take) {
  int step = 1;
  const std::size_t slash = member.find('/');
  if (slash != std::string_view::npos) {
    const auto given = number_in<int>(member.substr(slash + 1));
    if (!given || *given < 1 || *given > 60) return false;
    step = *given;
    member = member.substr(0, slash);
  }
  std::optional<int> first = field.least, last = field.most;
  if (member != "*") {
    const std::size_t dash = member.find('-');
    first = value_of(field, member.substr(0, dash));
    last = dash != std::string_view::npos ? value_of(field, member.substr(dash + 1)) : first;
    const bool has_range = dash != std::string_view::npos;
    if (slash != std::string_view::npos && !has_range) return false;
  }
  if (!first || !last || *first > *last) return false;
  for (int value = *first; value <= *last; value += step) take(static_cast<std::size_t>(value));
  return true;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  const std::string nickname = lower(text);
  for (const auto& [name, fields] : kNicknames) {
    if (name == nickname) text = fields;
  }
  if (text.starts_with('@'))
    return fail(ErrorCode::invalid_argument,
                "must be five fields or @yearly, @monthly, @weekly, @daily or @hourly, not " + nickname);
  const auto fields = split(text, " \t", false);
  if (fields.size() != kFields.size()) {
    return fail(ErrorCode::invalid_argument,
                "must have five fields: minute, hour, day of the month, month and day of the week");
  }
  Cron cron;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const auto take = [&](std::size_t value) {
      if (i == 0) cron.minutes_.set(value);
      if (i == 1) cron.hours_.set(value);
      if (i == 2) cron.days_.set(value);
      if (i == 3) cron.months_.set(value);
      if (i == 4) cron.weekdays_.set(value % 7);
    };
    for (const std::string_view member : split(fields[i], ",", true)) {
      if (read_member(kFields[i], member, take)) continue;
      return fail(ErrorCode::invalid_argument, "\"" + std::string(member) + "\" is not a valid " +
                                                   std::string(kFields[i].name) + ", range or step");
    }
  }
  cron.any_hour_ = fields[1].starts_with('*');
  cron.any_day_ = fields[2].starts_with('*');
  cron.any_weekday_ = fields[4].starts_with('*');
  if (!cron.next(from_ms(0), *TimeZone::load("UTC"))) {
    return fail(ErrorCode::invalid_argument, "never occurs: no such date exists");
  }
  return cron;
}

// As in Vixie cron: if either day field begins with a star, both must match; otherwise one match is enough.
bool Cron::has_day(std::chrono::local_days day) const {
  const std::chrono::year_month_day date(day);
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool of_month = days_.test(static_cast<unsigned>(date.day()));
  const bool of_week = weekdays_.test(std::chrono::weekday(day).c_encoding());
  return any_day_ || any_weekday_ ? of_month && of_week : of_month || of_week;
}

std::optional<Timestamp> Cron::next(Timestamp after, const TimeZone& zone) const {
  return any_hour_ ? next_shown(after, zone) : next_fixed(after, zone);
}

// Steps through the real minutes and reads the local clock at each.
std::optional<Timestamp> Cron::next_shown(Timestamp after, const TimeZone& zone) const {
  using namespace std::chrono;
  const Timestamp last = after + days(kDaysMax);
  for (Timestamp at = floor<minutes>(after) + minutes(1); at < last;) {
    const LocalTime shown = zone.to_local(at);
    const local_days day = floor<days>(shown);
    if (!has_day(day)) {
      at = std::max<Timestamp>(at + minutes(1), floor<minutes>(zone.to_utc(LocalTime(day + days(1)))));
      continue;
    }
    const auto minute = static_cast<std::size_t>(floor<minutes>(shown - day).count());
    if (hours_.test(minute / 60) && minutes_.test(minute % 60)) return at;
    at += minutes(1);
  }
  return std::nullopt;
}

std::optional<Timestamp> Cron::next_fixed(Timestamp after, const TimeZone& zone) const {
  using namespace std::chrono;
  const local_days today = floor<days>(zone.to_local(after));
  // Starts a day early, because the clocks may have been put back across midnight.
  for (local_days day = today - days(1); day < today + days(kDaysMax); day += days(1)) {
    if (!has_day(day)) continue;
    for (std::size_t hour = 0; hour < hours_.size(); ++hour) {
      if (!hours_.test(hour)) continue;
      for (std::size_t minute = 0; minute < minutes_.size(); ++minute) {
        if (!minutes_.test(minute)) continue;
        const Timestamp at = zone.to_utc(LocalTime(day) + hours(hour) + std::chrono::minutes(minute));
        if (at > after) return at;
      }
    }
  }
  return std::nullopt;
}

}  // namespace baton::base
