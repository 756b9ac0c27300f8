#include "base/time_zone.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <sstream>

namespace baton::base {
namespace {

constexpr int kLastYear = 2199;
constexpr std::size_t kHeader = 44, kFileMax = 1 << 20;
constexpr std::int64_t kHour = 3600;

bool is_zone_name(std::string_view name) {
  const bool is_plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '+' || c == '/';
  });
  return is_plain && !name.empty() && name.size() <= 100 && name.front() != '/';
}

std::int64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  const std::size_t unused = 64 - 8 * bytes.size();
  return static_cast<std::int64_t>(value << unused) >> unused;
}

struct Counts {
  std::size_t isut, isstd, leap, time, type, letters;

  static Counts of(std::string_view header) {
    const auto at = [&](std::size_t n) {
      return static_cast<std::size_t>(static_cast<std::uint32_t>(big_endian(header.substr(20 + 4 * n, 4))));
    };
    return {at(0), at(1), at(2), at(3), at(4), at(5)};
  }
  std::size_t bytes(std::size_t time_size) const {
    return time * (time_size + 1) + type * 6 + letters + leap * (time_size + 4) + isstd + isut;
  }
};

// The rule for a zone's future times, in the format of the variable TZ: "CET-1CEST,M3.5.0,M10.5.0/3".
class Rule {
 public:
  // One of the two clock changes of a year.
  struct Change {
    enum class Day { month, julian, plain } kind = Day::month;
    int month = 1, week = 1, weekday = 0, day = 0;
    std::int64_t time = 2 * kHour;  // local, by the offset before the change

    std::int64_t day_of(int year) const {
      using namespace std::chrono;
      const sys_days first = sys_days(std::chrono::year(year) / January / 1);
      if (kind == Day::plain) return (first + days(day)).time_since_epoch().count();
      if (kind == Day::julian) {
        const bool after_leap_day = std::chrono::year(year).is_leap() && day >= 60;
        return (first + days(day - 1 + (after_leap_day ? 1 : 0))).time_since_epoch().count();
      }
      const auto in = std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month));
      const std::chrono::weekday on(static_cast<unsigned>(weekday));
      const sys_days found =
          week == 5 ? sys_days(in / on[last]) : sys_days(in / on[static_cast<unsigned>(week)]);
      return found.time_since_epoch().count();
    }
  };

  explicit Rule(std::string_view text) : rest_(text) {
    name();
    standard = -offset();
    if (rest_.empty()) return;
    name();
    summer = standard + kHour;
    if (!rest_.empty() && rest_.front() != ',') summer = -offset();
    begin = change();
    end = change();
    changes = good && rest_.empty();
  }

  std::int64_t standard = 0, summer = 0;
  Change begin, end;  // of summer time
  bool changes = false;
  bool good = true;

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void name() {
    const bool quoted = take('<');
    while (!rest_.empty() &&
           (quoted ? rest_.front() != '>' : std::isalpha(static_cast<unsigned char>(rest_.front())))) {
      rest_.remove_prefix(1);
    }
    if (quoted) good = take('>') && good;
  }
  int number() {
    int value = 0;
    bool any = false;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) && value < 100'000) {
      value = 10 * value + (rest_.front() - '0');
      rest_.remove_prefix(1);
      any = true;
    }
    good = good && any;
    return value;
  }
  std::int64_t offset() {
    const int sign = take('-') ? -1 : 1;
    if (sign == 1) take('+');
    std::int64_t seconds = number() * kHour;
    if (take(':')) seconds += number() * 60;
    if (take(':')) seconds += number();
    return sign * seconds;
  }
  Change change() {
    Change made;
    good = take(',') && good;
    if (take('M')) {
      made.month = std::clamp(number(), 1, 12);
      good = take('.') && good;
      made.week = std::clamp(number(), 1, 5);
      good = take('.') && good;
      made.weekday = std::clamp(number(), 0, 6);
    } else {
      made.kind = take('J') ? Change::Day::julian : Change::Day::plain;
      made.day = std::min(number(), 366);
    }
    if (take('/')) made.time = offset();
    return made;
  }

  std::string_view rest_;
};

}  // namespace

Result<TimeZone> TimeZone::load(std::string_view name, const std::filesystem::path& folder) {
  if (name == "UTC") return TimeZone();
  if (!is_zone_name(name))
    return fail(ErrorCode::invalid_argument, "is not a time zone name, such as Europe/Berlin");
  std::error_code error;
  const std::filesystem::path path = folder / name;
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool has_any = std::filesystem::exists(folder, error);
    return fail(ErrorCode::not_found,
                has_any ? "is not a known time zone"
                        : "cannot be looked up: no time zone database is installed (package tzdata)");
  }
  std::ifstream in(path, std::ios::binary);
  std::string file(kFileMax, '\0');
  in.read(file.data(), static_cast<std::streamsize>(file.size()));
  file.resize(static_cast<std::size_t>(in.gcount()));
  return read(file);
}

Result<TimeZone> TimeZone::read(std::string_view file) {
  const auto broken = fail(ErrorCode::invalid_argument, "cannot be loaded: its time zone file is damaged");
  // The first block has 32-bit times, for old programs; the second repeats it with 64-bit times.
  const auto has_header = [](std::string_view block) {
    return block.size() >= kHeader && block.starts_with("TZif") && block[4] >= '2';
  };
  if (!has_header(file)) return broken;
  const std::size_t skipped = kHeader + Counts::of(file).bytes(4);
  if (skipped > file.size() || !has_header(file.substr(skipped))) return broken;
  file.remove_prefix(skipped);
  const Counts counts = Counts::of(file);
  file.remove_prefix(kHeader);
  if (counts.bytes(8) > file.size() || counts.type == 0) return broken;
  const std::string_view indexes = file.substr(counts.time * 8, counts.time);
  const std::string_view types = file.substr(counts.time * 9, counts.type * 6);
  const auto offset_of = [&](std::size_t type) { return big_endian(types.substr(type * 6, 4)); };
  TimeZone zone;
  zone.periods_.front().offset = offset_of(0);
  for (std::size_t i = 0; i < counts.time; ++i) {
    const auto type = static_cast<unsigned char>(indexes[i]);
    const std::int64_t begin = big_endian(file.substr(i * 8, 8));
    if (type >= counts.type || begin < zone.periods_.back().begin) return broken;
    zone.periods_.push_back({begin, offset_of(type)});
  }
  std::string_view rule = file.substr(counts.bytes(8));
  if (rule.size() >= 2 && rule.front() == '\n' && rule.back() == '\n') {
    rule = rule.substr(1, rule.size() - 2);
    if (!rule.empty()) zone.follow_rule(rule);
  }
  return zone;
}

// Adds the rule's changes for the years after the last change in the file.
void TimeZone::follow_rule(std::string_view text) {
  const Rule rule(text);
  if (!rule.good || !rule.changes) return;
  using namespace std::chrono;
  const std::int64_t known = std::max<std::int64_t>(periods_.back().begin, 0);
  const int first = static_cast<int>(year_month_day(floor<days>(sys_seconds(seconds(known)))).year());
  for (int year = first; year <= kLastYear; ++year) {
    Period summer{rule.begin.day_of(year) * 24 * kHour + rule.begin.time - rule.standard, rule.summer};
    Period winter{rule.end.day_of(year) * 24 * kHour + rule.end.time - rule.summer, rule.standard};
    if (winter.begin < summer.begin) std::swap(summer, winter);
    for (const Period& period : {summer, winter}) {
      if (period.begin > periods_.back().begin) periods_.push_back(period);
    }
  }
}

const TimeZone::Period& TimeZone::period_at(std::int64_t second) const {
  const auto next = std::upper_bound(periods_.begin() + 1, periods_.end(), second,
                                     [](std::int64_t at, const Period& period) { return at < period.begin; });
  return *(next - 1);
}

LocalTime TimeZone::to_local(Timestamp at) const {
  const std::int64_t second = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  return LocalTime(std::chrono::seconds(second + period_at(second).offset));
}

Timestamp TimeZone::to_utc(LocalTime local) const {
  const std::int64_t shown = local.time_since_epoch().count();
  // No offset is larger than a day, so the search starts a day earlier. It ends at the first period in which
  // the clocks show `local`, or that begins with a later reading.
  auto period = &period_at(shown - 24 * kHour);
  for (; period != &periods_.back(); ++period) {
    const std::int64_t at = shown - period->offset;
    if (at < period->begin) return from_ms(period->begin * 1000);  // the clocks skip `local`
    if (at < (period + 1)->begin) return from_ms(at * 1000);
  }
  return from_ms(std::max(shown - period->offset, period->begin) * 1000);
}

}  // namespace baton::base
