// The small rules of RFC 9110's grammar that several files here share. Pure functions on text.
#pragma once

#include <string_view>

namespace baton::server::http {

// One or more `tchar`s: what methods and header names are made of.
bool is_token(std::string_view text);

// Equal without regard to the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

// Takes the first member off a comma-separated list: trimmed, may be empty.
std::string_view next_member(std::string_view& list);

// Whether a comma-separated list has this word, in any case.
bool list_has(std::string_view list, std::string_view word);

}  // namespace baton::server::http
