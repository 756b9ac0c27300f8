#include "base/loggable.h"

namespace baton::base {
namespace {

std::string escaped(std::string_view text, unsigned char first_shown) {
  constexpr std::size_t kMax = 200;
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char byte : text.substr(0, kMax)) {
    const auto c = static_cast<unsigned char>(byte);
    if (c < first_shown || c == 0x7f) {
      result += {'\\', 'x', kDigits[c >> 4], kDigits[c & 0x0f]};
    } else {
      result += byte;
    }
  }
  if (text.size() > kMax) result += "...";
  return result;
}

}  // namespace

std::string loggable(std::string_view text) {
  return escaped(text, 0x20);
}

std::string loggable_word(std::string_view text) {
  return escaped(text, 0x21);
}

}  // namespace baton::base
