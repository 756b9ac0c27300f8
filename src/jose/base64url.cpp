#include "jose/base64url.h"

#include <algorithm>

#include "base/base64.h"

namespace baton::jose {

std::string encode_base64url(std::string_view bytes) {
  std::string text = base::encode_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos) return std::nullopt;
  auto bytes = base::decode_base64(text);
  // Only a text with spare bits that are zero is written back as it was.
  if (!bytes || text.size() % 4 == 0) return bytes;
  const std::size_t last = bytes->size() - bytes->size() % 3;
  const std::string tail = encode_base64url(std::string_view(*bytes).substr(last));
  return text.ends_with(tail) ? bytes : std::nullopt;
}

}  // namespace baton::jose
