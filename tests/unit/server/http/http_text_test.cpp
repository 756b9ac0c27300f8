#include "server/http/http_text.h"

#include <doctest/doctest.h>

namespace http_text_test {

using namespace baton::server::http;

TEST_CASE("is_token: letters, digits and the marks of RFC 9110, and nothing else") {
  CHECK(is_token("GET"));
  CHECK(is_token("x-1!#$%&'*+.^_`|~"));
  for (const char* text : {"", "a b", "a:", "a/b", "\"", "a\t", "\xc3\xa4", "(", "a,b"})
    CHECK_FALSE(is_token(text));
}

TEST_CASE("same_word: ASCII case does not matter, length does") {
  CHECK(same_word("Content-Length", "content-LENGTH"));
  CHECK_FALSE(same_word("a", "ab"));
  CHECK_FALSE(same_word("@", "`"));
}

TEST_CASE("list_has: members are trimmed and compared whole") {
  CHECK(list_has(" keep-alive ,\tClose ", "close"));
  CHECK(list_has(",,close", "close"));
  CHECK_FALSE(list_has("closed, not-close", "close"));
  CHECK_FALSE(list_has("", "close"));
}

}  // namespace http_text_test
