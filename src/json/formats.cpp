#include "json/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace baton::json {
namespace {

struct FormatRow {
  std::string_view name;
  Format format;
  std::string_view words;
  std::string_view example;
};
constexpr FormatRow kFormats[] = {
    {"date", Format::date, "a date like 2026-01-31", "2026-01-31"},
    {"time", Format::time, "a time like 10:30:00Z", "10:30:00Z"},
    {"date-time", Format::date_time, "a date and time like 2026-01-31T10:30:00Z", "2026-01-31T10:30:00Z"},
    {"duration", Format::duration, "a duration like P1DT12H", "P1DT12H"},
    {"email", Format::email, "an email address", "name@example.com"},
    {"uri", Format::uri, "a URI like https://example.com/", "https://example.com/"},
    {"uuid", Format::uuid, "a UUID", "00000000-0000-4000-8000-000000000000"},
    {"hostname", Format::hostname, "a host name", "example.com"},
    {"ipv4", Format::ipv4, "an IPv4 address", "192.0.2.1"},
    {"ipv6", Format::ipv6, "an IPv6 address", "2001:db8::1"},
};

const FormatRow* row_of(Format format) {
  const auto* row = std::ranges::find(kFormats, format, &FormatRow::format);
  return row == std::end(kFormats) ? nullptr : row;
}

bool is_number(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_number(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Removes a number of exactly `digits` digits from the front of the text and returns it.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits || !std::ranges::all_of(text.substr(0, digits), is_number)) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) number = number * 10 + (c - '0');
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return false;
  const auto month = take_number(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, '-')) return false;
  const auto day = take_number(text, 2);
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leaps = *month == 2 && *year % 4 == 0 && (*year % 100 != 0 || *year % 400 == 0);
  return day && *day >= 1 && *day <= kDays[static_cast<std::size_t>(*month - 1)] + (leaps ? 1 : 0);
}

bool take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return true;
  if (!take(text, '+') && !take(text, '-')) return false;
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return false;
  const auto minutes = take_number(text, 2);
  return minutes && *minutes <= 59;
}

// `strict`: seconds and offset are required.
bool is_time(std::string_view text, bool strict) {
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return false;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return false;
  if (take(text, ':')) {
    const auto seconds = take_number(text, 2);
    if (!seconds || *seconds > 60) return false;
    if (take(text, '.')) {
      const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
      if (digits == 0) return false;
      text.remove_prefix(digits);
    }
  } else if (strict) {
    return false;
  }
  if (text.empty()) return !strict;
  return take_offset(text) && text.empty();
}

bool is_date_time(std::string_view text) {
  if (!take_date(text)) return false;
  return (take(text, 'T') || take(text, 't') || take(text, ' ')) && is_time(text, true);
}

// Removes the fields of a duration from the front of the text. Each field is a number and one of `letters`;
// they must come in that order, none twice. Returns false if there is no field.
bool take_fields(std::string_view& text, std::string_view letters, bool may_have_fraction) {
  bool any = false;
  while (!text.empty() && is_number(text.front())) {
    std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    bool has_fraction = false;
    if (may_have_fraction && digits < text.size() && text[digits] == '.') {
      const std::size_t end = std::min(text.find_first_not_of("0123456789", digits + 1), text.size());
      if (end == digits + 1) return false;
      digits = end;
      has_fraction = true;
    }
    if (digits == text.size()) return false;
    const std::size_t at = letters.find(text[digits]);
    if (at == letters.npos || (has_fraction && text[digits] != 'S')) return false;
    letters.remove_prefix(at + 1);
    text.remove_prefix(digits + 1);
    any = true;
  }
  return any;
}

bool is_duration(std::string_view text) {
  take(text, '-');  // Python's timedelta may be negative
  if (!take(text, 'P')) return false;
  const bool has_date = take_fields(text, "YMWD", false);
  if (text.empty()) return has_date;
  return take(text, 'T') && take_fields(text, "HMS", true) && text.empty();
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const std::size_t end = std::min(text.find('.'), text.size());
    const std::string_view label = text.substr(0, end);
    const bool good =
        !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
        std::ranges::all_of(label, [](char c) { return is_letter(c) || is_number(c) || c == '-'; });
    if (!good) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == text.npos || at == 0 || at + 1 == text.size() || text.size() > 320) return false;
  const bool printable =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; });
  const std::string_view domain = text.substr(at + 1);
  return printable && text.find('@') == at && domain.front() != '.' && domain.back() != '.' &&
         domain.find("..") == domain.npos;
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || !is_letter(text.front())) return false;
  const bool good_scheme = std::ranges::all_of(text.substr(0, colon), [](char c) {
    return is_letter(c) || is_number(c) || c == '+' || c == '-' || c == '.';
  });
  if (!good_scheme || colon + 1 == text.size()) return false;
  for (std::size_t i = colon + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))) return false;
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f) return false;
    if (std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos) return false;
  }
  return true;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_address(int family, std::string_view text) {
  constexpr std::size_t kLongest = 45;
  if (text.size() > kLongest || text.find('\0') != text.npos) return false;
  std::array<unsigned char, 16> bytes{};
  return inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

}  // namespace

Format format_named(std::string_view name) {
  const auto* row = std::ranges::find(kFormats, name, &FormatRow::name);
  return row == std::end(kFormats) ? Format::none : row->format;
}

std::string_view words_for(Format format) {
  const FormatRow* row = row_of(format);
  return row != nullptr ? row->words : "";
}

std::string_view example_of(Format format) {
  const FormatRow* row = row_of(format);
  return row != nullptr ? row->example : "";
}

bool has_format(Format format, std::string_view text) {
  switch (format) {
    case Format::none:
      return true;
    case Format::date:
      return take_date(text) && text.empty();
    case Format::time:
      return is_time(text, false);
    case Format::date_time:
      return is_date_time(text);
    case Format::duration:
      return is_duration(text);
    case Format::email:
      return is_email(text);
    case Format::uri:
      return is_uri(text);
    case Format::uuid:
      return is_uuid(text);
    case Format::hostname:
      return is_hostname(text);
    case Format::ipv4:
      return is_address(AF_INET, text);
    case Format::ipv6:
      return is_address(AF_INET6, text);
  }
  return false;
}

}  // namespace baton::json
