#include "base/text.h"

#include <doctest/doctest.h>

namespace utf8_test {

using baton::base::is_utf8;

TEST_CASE("Printable: only whole UTF-8 is UTF-8") {
  CHECK(is_utf8("Größe 🙂"));
  CHECK(is_utf8(""));
  CHECK_FALSE(is_utf8("\xff"));
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));
  CHECK_FALSE(is_utf8("abc\xE2\x82"));
}

}  // namespace utf8_test
