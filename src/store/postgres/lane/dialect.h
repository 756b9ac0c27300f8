// What PostgreSQL writes in another way than SQLite.
#pragma once

#include <string>
#include <string_view>

namespace baton::store::postgres {

// The shared statement for PostgreSQL: "?" and "?2" become "$1" and "$2", "INDEXED BY name" goes, instr() is
// strpos().
std::string translated(std::string_view sql);

// PostgreSQL's texts have no zero bytes and are UTF-8; ours have what callers send. Text that would be
// refused is stored with U+0001 as an escape: before "0" a zero byte, before "1" itself, before "2" and two
// hexadecimal digits any byte that is not UTF-8.
bool needs_escapes(std::string_view text);
std::string escaped(std::string_view text);
std::string unescaped(std::string_view stored);

}  // namespace baton::store::postgres
