#include "json/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hex.h"

namespace baton::json {
namespace {

tl::unexpected<base::Error> wrong(const char* what) {
  return base::fail(base::ErrorCode::invalid_argument, what);
}

// The shortest digits that read back as the number, and the place of the point: 0.digits * 10^point.
struct Digits {
  std::string text;
  int point = 0;
};

Digits digits_of(double number) {
  std::array<char, 64> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string_view whole(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = whole.find('e');
  Digits digits;
  for (const char c : whole.substr(0, e)) {
    if (c != '.') digits.text += c;
  }
  // from_chars reads no plus sign.
  const std::size_t sign = whole[e + 1] == '+' ? 1 : 0;
  std::from_chars(whole.data() + e + 1 + sign, whole.data() + whole.size(), digits.point);
  ++digits.point;
  return digits;
}

std::string plain(const Digits& digits) {
  const int count = static_cast<int>(digits.text.size());
  if (digits.point <= 0)
    return "0." + std::string(static_cast<std::size_t>(-digits.point), '0') + digits.text;
  if (digits.point >= count)
    return digits.text + std::string(static_cast<std::size_t>(digits.point - count), '0');
  const auto point = static_cast<std::size_t>(digits.point);
  return digits.text.substr(0, point) + "." + digits.text.substr(point);
}

// `width`: of the exponent, at least.
std::string with_exponent(const Digits& digits, std::size_t width) {
  std::string text = digits.text.substr(0, 1);
  if (digits.text.size() > 1) text += "." + digits.text.substr(1);
  const int exponent = digits.point - 1;
  std::string number = std::to_string(std::abs(exponent));
  if (number.size() < width) number.insert(0, width - number.size(), '0');
  return text + (exponent < 0 ? "e-" : "e+") + number;
}

std::string python_number(double number) {
  std::string sign = std::signbit(number) ? "-" : "";
  if (number == 0) return sign + "0.0";
  const Digits digits = digits_of(std::abs(number));
  if (digits.point < -3 || digits.point > 16) return sign + with_exponent(digits, 2);
  std::string text = plain(digits);
  if (text.find('.') == std::string::npos) text += ".0";
  return sign + text;
}

// Whether the whole number in the text is the double's value, digit by digit, or what writers of doubles make
// of that.
bool is_exact(std::string_view text, double number) {
  if (text.find_first_of(".eE") != std::string_view::npos || text == ecmascript_number(number)) return true;
  std::array<char, 330> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed, 0).ptr;
  return text == std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
}

// The UTF-16 units of the text, for comparing: each as two bytes.
std::string utf16_of(std::string_view text) {
  std::string units;
  const auto add = [&](std::uint32_t unit) {
    units += static_cast<char>(unit >> 8);
    units += static_cast<char>(unit & 0xff);
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    const int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    std::uint32_t point = more == 0 ? first : first & (0x3fU >> more);
    for (int k = 0; k < more; ++k) point = point << 6 | (static_cast<unsigned char>(text[i++]) & 0x3f);
    if (point < 0x10000) {
      add(point);
    } else {
      add(0xd800 + ((point - 0x10000) >> 10));
      add(0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
  return units;
}

class CanonicalWriter {
 public:
  CanonicalWriter(std::string& out, Canonical form) : out_(out), form_(form) {}

  base::Result<void> write(Value value) {
    switch (value.type()) {
      case Value::Type::object:
        return write_object(value);
      case Value::Type::array:
        return write_array(value);
      case Value::Type::string:
        write_string(value.string());
        break;
      case Value::Type::number:
        return write_number(value);
      case Value::Type::missing:
        return wrong("there is no value");
      case Value::Type::null:
      case Value::Type::boolean:
        out_ += value.raw();
    }
    return {};
  }

 private:
  base::Result<void> write_object(Value object) {
    std::vector<std::pair<std::string, Value>> members;
    for (const Value member : object) {
      std::string order(member.key());
      if (form_ == Canonical::jcs) order = utf16_of(order);
      members.emplace_back(std::move(order), member);
    }
    std::ranges::sort(members, {}, [](const auto& member) -> const std::string& { return member.first; });
    const auto same = [](const auto& one, const auto& other) { return one.first == other.first; };
    if (std::ranges::adjacent_find(members, same) != members.end())
      return wrong("a member of an object is repeated");
    out_ += '{';
    for (bool first = true; const auto& [order, member] : members) {
      if (!std::exchange(first, false)) out_ += ',';
      write_string(member.key());
      out_ += ':';
      if (auto written = write(member); !written) return written;
    }
    out_ += '}';
    return {};
  }

  base::Result<void> write_array(Value array) {
    out_ += '[';
    for (bool first = true; const Value each : array) {
      if (!std::exchange(first, false)) out_ += ',';
      if (auto written = write(each); !written) return written;
    }
    out_ += ']';
    return {};
  }

  base::Result<void> write_number(Value value) {
    const auto number = value.real();
    if (!number || !std::isfinite(*number)) return wrong("a number is too large");
    if (!is_exact(value.raw(), *number)) return wrong("a whole number has too many digits");
    out_ += form_ == Canonical::jcs ? ecmascript_number(*number) : python_number(*number);
    return {};
  }

  void write_unit(std::uint32_t unit) {
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += base::kLowerHex[(unit >> shift) & 0xf];
  }

  void write_string(std::string_view text) {
    constexpr std::string_view kEscaped = "\"\\\b\t\n\f\r", kLetters = "\"\\btnfr";
    out_ += '"';
    for (const char& c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
        out_ += '\\';
        out_ += kLetters[at];
      } else if (byte < 0x20 || (byte == 0x7f && form_ == Canonical::python)) {
        write_unit(byte);
      } else if (byte < 0x80 || form_ == Canonical::jcs) {
        out_ += c;
      } else if ((byte & 0xc0) == 0xc0) {
        write_beyond_ascii(text.substr(static_cast<std::size_t>(&c - text.data())));
      }
    }
    out_ += '"';
  }

  // Writes the first character of the text.
  void write_beyond_ascii(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::string units = utf16_of(text.substr(0, first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4));
    for (std::size_t i = 0; i < units.size(); i += 2)
      write_unit(static_cast<std::uint32_t>(static_cast<unsigned char>(units[i])) << 8 |
                 static_cast<unsigned char>(units[i + 1]));
  }

  std::string& out_;
  const Canonical form_;
};

}  // namespace

base::Result<std::string> canonical_json(Value value, Canonical form) {
  if (value.is_mended()) return wrong("a text has half a surrogate pair");
  std::string text;
  if (auto written = CanonicalWriter(text, form).write(value); !written)
    return base::fail(std::move(written.error()));
  return text;
}

std::string ecmascript_number(double number) {
  if (number == 0) return "0";
  const std::string sign = number < 0 ? "-" : "";
  const Digits digits = digits_of(std::abs(number));
  if (digits.point < -5 || digits.point > 21) return sign + with_exponent(digits, 1);
  return sign + plain(digits);
}

}  // namespace baton::json
