#include "base/clock.h"

#include <time.h>

#include <charconv>
#include <chrono>

namespace baton::base {
namespace {

using std::chrono::milliseconds, std::chrono::minutes;

// Appends `value`, padded with zeros to at least `digits` digits.
void append_number(std::string& out, int value, std::size_t digits) {
  char text[16];
  if (value < 0) out += '-';
  const auto end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value).ptr;
  const auto length = static_cast<std::size_t>(end - text);
  if (length < digits) out.append(digits - length, '0');
  out.append(text, length);
}

Duration since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                              std::chrono::nanoseconds(time.tv_nsec));
}

// Reads a text from its front. After the first mismatch `good` stays false.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

  // Consumes and returns the next character if it is in `choice`, or returns 0.
  char accept(std::string_view choice) {
    if (rest_.empty() || choice.find(rest_.front()) == std::string_view::npos) return 0;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void expect(std::string_view choice) {
    if (!accept(choice)) good_ = false;
  }
  int digits(int count) {
    int number = 0;
    for (int i = 0; i < count; ++i) {
      const char digit = accept("0123456789");
      if (!digit) good_ = false;
      number = number * 10 + (digit - '0');
    }
    return number;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// Reads the digits after the decimal point, as milliseconds rounded up.
milliseconds fraction(Scanner& in) {
  int ms = 0, count = 0;
  bool finer = false;
  while (const char digit = in.accept("0123456789")) {
    if (count < 3) ms = ms * 10 + (digit - '0');
    if (count >= 3 && digit != '0') finer = true;
    ++count;
  }
  if (count == 0) in.expect("0");
  for (; count < 3; ++count) ms *= 10;
  return milliseconds(ms + (finer ? 1 : 0));
}

// Reads how far local time is ahead of UTC. A space stands for a plus sign: decoding a URL query turns "+"
// into a space.
minutes offset(Scanner& in) {
  if (in.at_end() || in.accept("Zz")) return minutes(0);
  const char sign = in.accept("+- ");
  if (!sign) in.expect("Z");
  const int hour = in.digits(2);
  in.accept(":");
  const int minute = in.digits(2);
  if (hour > 23 || minute > 59) in.expect("");
  const minutes ahead(hour * 60 + minute);
  return sign == '-' ? -ahead : ahead;
}

}  // namespace

std::string to_rfc3339(Timestamp at) {
  const auto ms = milliseconds(to_ms(at));
  const auto days = std::chrono::floor<std::chrono::days>(ms);
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const std::chrono::hh_mm_ss time{ms - days};
  std::string text;
  text.reserve(24);
  append_number(text, static_cast<int>(date.year()), 4);
  text += '-';
  append_number(text, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  text += '-';
  append_number(text, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  text += 'T';
  append_number(text, static_cast<int>(time.hours().count()), 2);
  text += ':';
  append_number(text, static_cast<int>(time.minutes().count()), 2);
  text += ':';
  append_number(text, static_cast<int>(time.seconds().count()), 2);
  text += '.';
  append_number(text, static_cast<int>(time.subseconds().count()), 3);
  text += 'Z';
  return text;
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  Scanner in(text);
  const int y = in.digits(4);
  in.expect("-");
  const int m = in.digits(2);
  in.expect("-");
  const int d = in.digits(2);
  in.expect("Tt ");
  const int hour = in.digits(2);
  in.expect(":");
  const int minute = in.digits(2);
  in.expect(":");
  const int second = in.digits(2);
  const milliseconds part = in.accept(".,") ? fraction(in) : milliseconds(0);
  const minutes ahead = offset(in);
  const std::chrono::year_month_day date{std::chrono::year(y), std::chrono::month(static_cast<unsigned>(m)),
                                         std::chrono::day(static_cast<unsigned>(d))};
  if (!in.good() || !in.at_end() || !date.ok() || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  return Timestamp(std::chrono::sys_days(date)) + std::chrono::hours(hour) + minutes(minute) +
         std::chrono::seconds(second) + part - ahead;
}

SteadyClock::SteadyClock(const Clock& clock) : begin_(clock.now().time_since_epoch() - since_boot()) {}

Timestamp SteadyClock::now() const {
  return Timestamp(begin_ + since_boot());
}

}  // namespace baton::base
