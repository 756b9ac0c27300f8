#include "base/one_line.h"

#include <doctest/doctest.h>

namespace one_line_test {

using namespace baton;

TEST_CASE("one_line: white space of any kind becomes one space, and none is left at the ends") {
  CHECK(base::one_line("  a \n\t b\r\n") == "a b");
  CHECK(base::one_line("a\u00a0\u2003\u200b\u3000b\u2028c\u2029") == "a b c");
  CHECK(base::one_line(" \t\n").empty());
}

TEST_CASE("one_line: control and direction characters are removed, and letters of all scripts stay") {
  CHECK(base::one_line("a\u202eb\u2066c\u200fd\u061c") == "abcd");
  CHECK(base::one_line(std::string_view("a\0b\x1b[1m\x7f", 8)) == "ab[1m");
  CHECK(base::one_line("a\u0085b\u009bc") == "a bc");
  CHECK(base::one_line("\xff\xc3(\xe2\x82") == "(");
  CHECK(base::one_line("שלום 天气 👩‍🚀") == "שלום 天气 👩‍🚀");
}

TEST_CASE("length_of: counts code points, not bytes") {
  CHECK(base::length_of("") == 0);
  CHECK(base::length_of("aü天😀") == 4);
}

TEST_CASE("shortened: a text that is too long is cut and ends with an ellipsis, within the length") {
  CHECK(base::shortened("天气", 2) == "天气");
  CHECK(base::shortened("天气好", 2) == "天…");
  CHECK(base::shortened("", 2).empty());
}

}  // namespace one_line_test
