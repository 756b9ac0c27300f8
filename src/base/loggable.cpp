#include "base/loggable.h"

#include <algorithm>

#include "base/code_points.h"
#include "base/text.h"

namespace baton::base {
namespace {

std::string escaped(std::string_view text, bool shows_spaces) {
  constexpr std::size_t kMax = 200;
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (std::string_view rest = beginning_of(text, kMax); !rest.empty();) {
    const CodePoint next = first_code_point(rest);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    const bool is_odd = next.bytes == 0 || is_control(next.value) || turns_direction(next.value) ||
                        (!shows_spaces && next.value == ' ');
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
  if (text.size() > kMax) result += "...";
  return result;
}

}  // namespace

std::string loggable(std::string_view text) {
  return escaped(text, true);
}

std::string loggable_word(std::string_view text) {
  return escaped(text, false);
}

}  // namespace baton::base
