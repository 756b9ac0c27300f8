// Shared parsing helpers for RFC 9110's grammar. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace baton::http {

using base::is_token;
using base::same_word;

// Returns the text without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

// Returns a Content-Type without its parameters.
std::string_view media_type(std::string_view content_type);

// Removes and returns the first member of a comma-separated list, trimmed; may be empty.
std::string_view next_member(std::string_view& list);

// Returns true if a comma-separated list has this word, ignoring case.
bool list_has(std::string_view list, std::string_view word);

// Returns the value of a hexadecimal digit, or -1.
int hex_value(char c);

// Decode the percent-encoding of a path, or of a query's name or value. A % without two hexadecimal digits is
// kept unchanged. In queries + means a space, and U+FFFD replaces each byte that is not UTF-8: answers repeat
// parts of them.
std::string path_decoded(std::string_view text);
std::string query_decoded(std::string_view text);

}  // namespace baton::http
