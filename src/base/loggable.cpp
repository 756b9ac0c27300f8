#include "base/loggable.h"

#include <algorithm>

#include "base/code_points.h"
#include "base/text.h"

namespace baton::base {
namespace {

constexpr std::size_t kMax = 200;

std::string escaped(std::string_view text, std::string_view shown) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint next = first_code_point(rest);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    const bool is_blank = next.value == ' ' || next.value == '\t';
    const bool is_odd = next.bytes == 0 || (is_blank ? shown.find(static_cast<char>(next.value)) == shown.npos
                                                     : is_control(next.value) || turns_direction(next.value));
    for (const char byte : rest.substr(0, bytes)) {
      const auto c = static_cast<unsigned char>(byte);
      if (is_odd) {
        result += {'\\', 'x', kDigits[c >> 4], kDigits[c & 0x0f]};
      } else {
        result += byte;
      }
    }
    rest.remove_prefix(bytes);
  }
  return result;
}

std::string short_form(std::string_view text, std::string_view shown) {
  std::string result = escaped(beginning_of(text, kMax), shown);
  if (text.size() > kMax) result += "...";
  return result;
}

}  // namespace

std::string loggable(std::string_view text) {
  return short_form(text, " ");
}

std::string loggable_word(std::string_view text) {
  return short_form(text, "");
}

std::string loggable_line(std::string_view text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
  return is_plain ? std::string(text) : escaped(text, " \t");
}

}  // namespace baton::base
