// Differences between the SQL of PostgreSQL and of SQLite.
#pragma once

#include <string>
#include <string_view>

namespace baton::store::postgres {

// Translates a shared statement for PostgreSQL: "?" and "?2" become "$1" and "$2", "INDEXED BY name" is
// removed, instr() becomes strpos().
std::string translated(std::string_view sql);

// PostgreSQL's texts must be UTF-8 without zero bytes; texts from callers may be neither. Text that would be
// refused is stored with escapes that begin with U+0001: U+0001 "0" is a zero byte, U+0001 "1" is U+0001
// itself, and U+0001 "2" followed by two hexadecimal digits is any byte that is not UTF-8.
bool needs_escapes(std::string_view text);
std::string escaped(std::string_view text);
std::string unescaped(std::string_view stored);

}  // namespace baton::store::postgres
