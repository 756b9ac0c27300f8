#include "cli/printable.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::cli {
namespace {

TEST_CASE("Printable: text keeps what is harmless and shows what is not") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"plain, Größe 漢字 🙂\ttab\nline", "plain, Größe 漢字 🙂\ttab\nline"},
      {"a\r\nb", "a\nb"},
      {"a\rb", "a^Mb"},
      {"\x1b[2J", "^[[2J"},
      {std::string("a\0b", 3), "a^@b"},
      {"\x7f", "^?"},
      {"\xC2\x9B"
       "2J",
       "\xEF\xBF\xBD"
       "2J"},
      {"\xE2\x80\xAE"
       "abc",
       "\xEF\xBF\xBD"
       "abc"},
      {"\xE2\x81\xA6"
       "abc",
       "\xEF\xBF\xBD"
       "abc"},
      {"\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xC0\x9B", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const auto& [text, shown] : table) {
    CAPTURE(text);
    CHECK(printable(text) == shown);
  }
  CHECK(printable_line("a\nb\r\nc") == "a b c");
}

TEST_CASE("Printable: a JSON line keeps its meaning and stays one line") {
  CHECK(json_line("{\n  \"a\": \"x\\ny\"\r\n}") == "{   \"a\": \"x\\ny\"  }");
  CHECK(json_line("\"\xC2\x9B\x7f\"") == "\"\\u009b\\u007f\"");
  CHECK(json_line("\"漢\"") == "\"漢\"");
}

TEST_CASE("Printable: a shell reads a word back as it was") {
  CHECK(shell_word("plain-1.2") == "plain-1.2");
  CHECK(shell_word("two words") == "'two words'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(rm)") == "'$(rm)'");
  CHECK(shell_word("") == "''");
}

}  // namespace
}  // namespace baton::cli
