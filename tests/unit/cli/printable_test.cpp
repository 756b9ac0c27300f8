#include "cli/printable.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::cli::printable_test {
namespace {

TEST_CASE("Printable: harmless text is kept, and other characters are escaped") {
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

TEST_CASE("Printable: a JSON line cannot change the direction of a terminal's text") {
  CHECK(json_line("\"a\xE2\x80\xAE"
                  "b\xE2\x81\xA6\"") == "\"a\\u202eb\\u2066\"");
}

TEST_CASE("Printable: special characters of a name are replaced, however they are encoded") {
  CHECK(safe_characters("a<b", "<") == "a_b");
  CHECK(safe_characters("a\x1b\x7f", "") == "a__");
  CHECK(safe_characters("a\xC2\x9B"
                        "b",
                        "") == "a_b");
  CHECK(safe_characters("gpj\xE2\x80\xAE.exe", "") == "gpj_.exe");
  CHECK(safe_characters("\xE2\x80\x8F\xD8\x9C\xE2\x81\xA9", "") == "___");
  CHECK(safe_characters("\xff\xC0\x9B", "") == "___");
  CHECK(safe_characters("Größe 漢 🙂", "") == "Größe 漢 🙂");
}

TEST_CASE("Printable: text is cut to columns, at a word's end where one is near") {
  CHECK(width_of("abc") == 3);
  CHECK(width_of("漢字") == 4);
  CHECK(width_of("e\xCC\x81") == 1);
  CHECK(shortened("short", 10) == "short");
  CHECK(shortened("reading the third file of nine", 20) == "reading the third…");
  CHECK(shortened("Donaudampfschiff", 10) == "Donaudamp…");
  CHECK(shortened("漢字漢字", 6) == "漢字…");
  CHECK(shortened("abc", 1) == "…");
  CHECK(shortened("abc", 0).empty());
}

TEST_CASE("Printable: a shell reads a quoted word back unchanged") {
  CHECK(shell_word("plain-1.2") == "plain-1.2");
  CHECK(shell_word("two words") == "'two words'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(rm)") == "'$(rm)'");
  CHECK(shell_word("") == "''");
}

}  // namespace
}  // namespace baton::cli::printable_test
