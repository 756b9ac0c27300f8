// Text rules that several folders share: numbers, UTF-8 (RFC 3629), HTTP tokens and media types (RFC 9110),
// percent-encoding (RFC 3986), and misspelt names. Pure functions.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::base {

// Whether `text` is one or more `tchar`s, as methods, header names and authentication schemes must be.
bool is_token(std::string_view text);

// Whether the texts are equal, ignoring the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// Whether the text starts with `beginning`, ignoring the case of ASCII letters.
bool begins_with(std::string_view text, std::string_view beginning);

// Whether `part` occurs in `text`. For texts that others choose: std::string::find may take as long as the
// product of their lengths, this their sum.
bool contains(std::string_view text, std::string_view part);

// Returns the text without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

// Returns the essence of a media type: without parameters and white space, in lower case (RFC 9110, 8.3.1).
std::string essence_of(std::string_view media_type);

// Returns the length of the leading "http://" or "https://" of a URL, in upper or lower case (RFC 3986, 3.1);
// 0 if the URL has another scheme, or none.
std::size_t web_scheme(std::string_view url);

// The text without the byte order mark that some editors put before UTF-8.
std::string_view without_mark(std::string_view text);

// Parses the whole text as a decimal number. Returns nullopt for any other text, or if the number does not
// fit.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "a, b, c".
std::string comma_separated(const std::vector<std::string>& words);

// Returns the number and its noun: "1 child", "2 children". Without `several`, the plural adds an "s".
std::string counted(std::int64_t number, std::string_view one, std::string_view several = {});

// Encodes a path segment or a query value: everything but letters, digits and -._~.
std::string percent_encoded(std::string_view text);
// Returns nullopt if a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

// UTF-8, strictly: no overlong forms, no surrogates, nothing past U+10FFFF.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};
// `text` must not be empty.
CodePoint first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

// Returns the text with U+FFFD in place of each byte that is not UTF-8.
std::string replaced_utf8(std::string_view text);

// Returns the longest prefix of a UTF-8 text that has at most `bytes_max` bytes and ends between two
// characters.
std::string_view beginning_of(std::string_view text, std::size_t bytes_max);

// The number of letters to add, remove, replace or swap with their neighbour to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the nearest of `names`, or an empty string if none is near enough.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace baton::base
