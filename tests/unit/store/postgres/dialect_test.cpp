#include "store/postgres/lane/dialect.h"

#include <doctest/doctest.h>

#include <string>

namespace dialect_test {

using namespace baton::store::postgres;

TEST_CASE("PostgreSQL's dialect: parameters become numbered, and string literals stay") {
  CHECK(translated("SELECT a FROM b WHERE c = ? AND d = ? LIMIT ?") ==
        "SELECT a FROM b WHERE c = $1 AND d = $2 LIMIT $3");
  CHECK(translated("SELECT ?2, ?1, ?12") == "SELECT $2, $1, $12");
  CHECK(translated("SELECT 'why?', ?") == "SELECT 'why?', $1");
}

TEST_CASE("PostgreSQL's dialect: index hints are removed, and instr becomes strpos") {
  CHECK(translated("SELECT a FROM tasks t INDEXED BY tasks_listed WHERE a = ?") ==
        "SELECT a FROM tasks t  WHERE a = $1");
  CHECK(translated("SELECT a FROM tasks INDEXED BY tasks_by_time") == "SELECT a FROM tasks ");
  CHECK(translated("substr(c, instr(c, 'x') + 1)") == "substr(c, strpos(c, 'x') + 1)");
}

TEST_CASE("PostgreSQL's dialect: characters that its texts cannot hold are escaped, and others stay") {
  for (const std::string plain : {"", "abc", "a long text of more than eight bytes",
                                  "Gr\xc3\xbc\xc3\x9f"
                                  "e \xf0\x9f\x8e\xb5",
                                  "tab\tand\nline\x1f"}) {
    CHECK_FALSE(needs_escapes(plain));
    CHECK(escaped(plain) == plain);
  }
  for (const std::string& odd :
       {std::string("\0", 1), std::string("abcdefghijk\0l", 13), std::string("\x01"),
        std::string("\x01") + "0", std::string("\xff"), std::string("\xc3"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("\xf5\x80\x80\x80"), std::string("\xe2\x82")}) {
    CHECK(needs_escapes(odd));
    CHECK_FALSE(needs_escapes(escaped(odd).substr(0, 0)));
    CHECK(escaped(odd).find('\0') == std::string::npos);
    CHECK(unescaped(escaped(odd)) == odd);
  }
}

}  // namespace dialect_test
