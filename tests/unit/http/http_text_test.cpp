#include "http/http_text.h"

#include <doctest/doctest.h>

#include <string>

namespace http_text_test {

using namespace baton::http;

TEST_CASE("is_token: letters, digits and the marks of RFC 9110, and nothing else") {
  CHECK(is_token("GET"));
  CHECK(is_token("x-1!#$%&'*+.^_`|~"));
  for (const char* text : {"", "a b", "a:", "a/b", "\"", "a\t", "\xc3\xa4", "(", "a,b"})
    CHECK_FALSE(is_token(text));
}

TEST_CASE("same_word: ignores ASCII case and compares the whole length") {
  CHECK(same_word("Content-Length", "content-LENGTH"));
  CHECK_FALSE(same_word("a", "ab"));
  CHECK_FALSE(same_word("@", "`"));
}

TEST_CASE("list_has: members are trimmed and compared completely") {
  CHECK(list_has(" keep-alive ,\tClose ", "close"));
  CHECK(list_has(",,close", "close"));
  CHECK_FALSE(list_has("closed, not-close", "close"));
  CHECK_FALSE(list_has("", "close"));
}

TEST_CASE("path_decoded: bytes are decoded, and + and invalid escapes stay") {
  CHECK(path_decoded("a%2Fb%c3%A4+%00") == std::string("a/b\xc3\xa4+\0", 7));
  for (const char* text : {"", "%", "%4", "%%", "%zz", "%4z", "%u0041", "% 41", "%-1"}) {
    CHECK(path_decoded(text) == text);
  }
  CHECK(path_decoded("%%41") == "%A");
  CHECK(query_decoded("a+b%2B") == "a b+");
  CHECK(query_decoded("%c3%a4%FF\xc3") == "\xc3\xa4\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace http_text_test
