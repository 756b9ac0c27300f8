#include "base/clock.h"

#include <charconv>
#include <chrono>

namespace baton::base {
namespace {

// Appends `value`, padded with zeros to at least `digits` digits.
void append_number(std::string& out, int value, std::size_t digits) {
  char text[16];
  if (value < 0) out += '-';
  const auto end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value).ptr;
  const auto length = static_cast<std::size_t>(end - text);
  if (length < digits) out.append(digits - length, '0');
  out.append(text, length);
}

}  // namespace

std::string to_rfc3339(Timestamp at) {
  const auto ms = std::chrono::milliseconds(to_ms(at));
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

}  // namespace baton::base
