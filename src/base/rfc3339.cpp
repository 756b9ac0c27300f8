#include "base/rfc3339.h"

namespace baton::base {
namespace {

using namespace std::chrono;

// Reads a text from its front. Once something does not fit, `good` stays false.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

  // The next character if it is one of these, or 0.
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

// The digits after the point, in milliseconds.
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

// How far local time is ahead of UTC. A blank is a plus sign that a query's decoder turned into one.
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

std::optional<base::Timestamp> parse_rfc3339(std::string_view text) {
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
  const year_month_day date{year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
  if (!in.good() || !in.at_end() || !date.ok() || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  return base::Timestamp(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) + part - ahead;
}

}  // namespace baton::base
