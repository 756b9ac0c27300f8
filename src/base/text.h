// Small rules of text that several folders share: words of HTTP (RFC 9110) and percent-encoding (RFC 3986).
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::base {

// One or more `tchar`s: what methods, header names and authentication schemes are made of.
bool is_token(std::string_view text);

// Equal without regard to the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// "a, b, c".
std::string comma_separated(const std::vector<std::string>& words);

// As one segment of a path, or a value in a query: all but letters, digits and -._~ is encoded.
std::string percent_encoded(std::string_view text);
// Nothing where a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace baton::base
