// Base64url as JOSE writes it (RFC 7515, section 2): one text for each sequence of bytes.
//
// base/base64.h accepts many forms of base64; signed text must have one only. Threads: any; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::jose {

std::string encode_base64url(std::string_view bytes);
// Returns nullopt for padding, any other character, and bits behind the last byte that are not zero.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace baton::jose
