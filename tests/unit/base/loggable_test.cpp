#include "base/loggable.h"

#include <doctest/doctest.h>

namespace loggable_test {

using namespace baton::base;

TEST_CASE("loggable: control characters cannot begin a line and length is bounded") {
  CHECK(loggable("a b") == "a b");
  CHECK(loggable("a\nb\x1b[") == "a\\x0Ab\\x1B[");
  CHECK(loggable(std::string(1000, 'x')).size() == 203);
}

TEST_CASE("loggable: characters that control terminals or mislead readers are shown as bytes") {
  CHECK(loggable("\xc2\x9b"
                 "2J") ==
        "\\xC2\\x9B"
        "2J");
  CHECK(loggable("\xe2\x80\xae"
                 "x\xff") == "\\xE2\\x80\\xAEx\\xFF");
  CHECK(loggable("\xc3\xa4") == "\xc3\xa4");
  CHECK(loggable(std::string(199, 'x') + "\xc3\xa4") == std::string(199, 'x') + "...");
}

TEST_CASE("loggable_word: a caller's text cannot look like another log member") {
  CHECK(loggable_word("t1 task=t2") == "t1\\x20task=t2");
}

TEST_CASE("loggable_line: a line of any length stays one line, with its tabs and spaces") {
  const std::string frame = "  at\tmain.go:5 " + std::string(1000, 'x');
  CHECK(loggable_line(frame) == frame);
  CHECK(loggable_line("a\n2026-01-01 error b\x1b[2J\xff \xc3\xa4") ==
        "a\\x0A2026-01-01 error b\\x1B[2J\\xFF \xc3\xa4");
}

}  // namespace loggable_test
