#include "base/text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/growth.h"

namespace base_text_test {

using namespace baton::base;

TEST_CASE("Text: a token has letters, digits and the marks that HTTP allows") {
  CHECK(is_token("X-A2A_Extensions"));
  CHECK(is_token("!#$%&'*+-.^_`|~"));
  for (const char* other : {"", "a b", "a:b", "a/b", "\"a\"", "\xc3\xbc", "a\r\n"}) {
    CAPTURE(other);
    CHECK_FALSE(is_token(other));
  }
}

TEST_CASE("Text: words are compared without regard to the case of ASCII letters") {
  CHECK(same_word("Content-Type", "content-TYPE"));
  CHECK(same_word("", ""));
  CHECK_FALSE(same_word("a", "ab"));
  CHECK_FALSE(same_word("[", "{"));
}

TEST_CASE("Text: the essence of a media type has no parameters and is in lower case") {
  CHECK(essence_of("Image/PNG") == "image/png");
  CHECK(essence_of(" application/pdf ; name=\"A.pdf\"") == "application/pdf");
  for (const char* empty : {"", " ", ";a=b", " ; a=b"}) CHECK(essence_of(empty).empty());
}

TEST_CASE("Text: web_scheme accepts any case, and a byte order mark is skipped") {
  CHECK(web_scheme("http://h") == 7);
  CHECK(web_scheme("HTTPS://h") == 8);
  for (const char* other : {"", "http:/h", "http", "ftp://h", " http://h"}) CHECK(web_scheme(other) == 0);
  CHECK(begins_with("DATA:x", "data:"));
  CHECK_FALSE(begins_with("dat", "data:"));
  CHECK(without_mark("\xEF\xBB\xBF{}") == "{}");
  CHECK(without_mark("\xEF\xBB{}") == "\xEF\xBB{}");
}

TEST_CASE("Text: percent-encoding keeps letters, digits and four marks, and reads back") {
  CHECK(percent_encoded("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encoded("a b/c:%\xc3\xbc") == "a%20b%2Fc%3A%25%C3%BC");
  for (const char* text : {"", "a b/c", "100%", "\xff", "x+y"})
    CHECK(percent_decoded(percent_encoded(text)) == text);
  CHECK(percent_decoded("%e4%C3") == "\xe4\xC3");
  for (const char* broken : {"%", "%4", "%zz", "a%4", "%-1", "%+1"}) {
    CAPTURE(broken);
    CHECK_FALSE(percent_decoded(broken));
  }
}

TEST_CASE("Text: a prefix has at most the given bytes and does not split a character") {
  for (const char* text : {"", "a", "abc"}) CHECK(beginning_of(text, 3) == text);
  CHECK(beginning_of("abcd", 3) == "abc");
  CHECK(beginning_of("ab\xc3\xbc", 3) == "ab");
  CHECK(beginning_of("ab\xc3\xbc", 4) == "ab\xc3\xbc");
  CHECK(beginning_of("\xf0\x9f\x98\x80", 3).empty());
  CHECK(beginning_of("a\xf0\x9f\x98\x80z", 5) == "a\xf0\x9f\x98\x80");
}

TEST_CASE("Text: a part is found wherever it is, and the empty one in every text") {
  CHECK(contains("abc", "abc"));
  CHECK(contains("xabc", "abc"));
  CHECK(contains("aab", "ab"));
  CHECK(contains(std::string_view("a\0b", 3), std::string_view("\0b", 2)));
  CHECK_FALSE(contains("abc", "abcd"));
  CHECK_FALSE(contains("abc", "ac"));
  CHECK(contains("abc", ""));
  CHECK(contains({}, {}));
  CHECK_FALSE(contains({}, "a"));
}

TEST_CASE("Text: looking for a long part of a text whose beginning repeats takes linear time") {
  baton::test::check_growth("contains", 16 << 10, [](std::size_t size) -> baton::test::Work {
    return [text = std::string(size, 'a'), part = std::string(size / 2, 'a') + "b"] {
      CHECK_FALSE(contains(text, part));
    };
  });
}

}  // namespace base_text_test
