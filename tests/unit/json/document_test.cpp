#include "json/document.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace document_test {

using baton::base::ErrorCode;
using baton::json::Document;
using baton::json::ParseOptions;
using baton::json::Value;

TEST_CASE("Document: every value knows its own bytes") {
  const std::string text = R"( { "a" : 1.50 , "b":[ true,null , "x\ny" ],"c":{ "d" : { } } , "e":"plain" } )";
  const auto document = Document::parse(text);
  REQUIRE(document);
  const Value root = document->root();
  CHECK(root.raw() == text.substr(1, text.size() - 2));
  CHECK(root["a"].raw() == "1.50");
  CHECK(root["b"].raw() == R"([ true,null , "x\ny" ])");
  CHECK(root["c"].raw() == R"({ "d" : { } })");
  CHECK(root["c"]["d"].raw() == "{ }");
  CHECK(root["e"].raw() == R"("plain")");
  std::vector<std::string> items;
  for (const Value item : root["b"]) items.emplace_back(item.raw());
  CHECK(items == std::vector<std::string>{"true", "null", R"("x\ny")"});
}

TEST_CASE("Document: strings are decoded, with and without escapes") {
  const auto document = Document::parse(R"({"k\u00e9y":"a\u4e2d\ud83d\ude00","plain":"中"})");
  REQUIRE(document);
  CHECK(document->root()["k\u00e9y"].string() == "a中😀");
  CHECK(document->root()["plain"].string() == "中");
}

TEST_CASE("Document: a parsed document may be moved") {
  auto first = Document::parse(R"({"short":"\t","n":7})");
  REQUIRE(first);
  const Document second = std::move(*first);
  CHECK(second.root()["short"].string() == "\t");
  CHECK(second.root()["n"].integer() == 7);
}

TEST_CASE("Document: numbers keep their text and say whether they are whole") {
  const auto document =
      Document::parse(R"([1, -5, 1.0, 1e2, 1.5, 9223372036854775807, 9223372036854775808, 1e30])");
  REQUIRE(document);
  std::vector<std::optional<std::int64_t>> read;
  for (const Value item : document->root()) read.push_back(item.integer());
  CHECK(read[0] == 1);
  CHECK(read[1] == -5);
  CHECK(read[2] == 1);
  CHECK(read[3] == 100);
  CHECK_FALSE(read[4]);
  CHECK(read[5] == INT64_MAX);
  CHECK_FALSE(read[6]);
  CHECK_FALSE(read[7]);
}

TEST_CASE("Document: an absent member is missing, and null counts as absent") {
  const auto document = Document::parse(R"({"n":null})");
  REQUIRE(document);
  CHECK(document->root()["x"].missing());
  CHECK_FALSE(document->root()["n"].missing());
  CHECK(document->root()["n"].absent());
  CHECK(document->root()["x"]["y"]["z"].missing());
  CHECK(document->root()["n"].size() == 0);
}

TEST_CASE("Document: the last of repeated members counts, and the repetition is detectable") {
  const auto document = Document::parse(R"({"a":1,"b":0,"a":2})");
  REQUIRE(document);
  CHECK(document->root()["a"].integer() == 2);
  CHECK(document->root().repeats("a"));
  CHECK_FALSE(document->root().repeats("b"));
}

TEST_CASE("Document: invalid JSON is refused") {
  for (const std::string& text : std::vector<std::string>{"",
                                                          " ",
                                                          "{",
                                                          "[1,]",
                                                          "{\"a\":}",
                                                          "nul",
                                                          "01",
                                                          "1 2",
                                                          "\"\xff\"",
                                                          "\"\xed\xa0\x80\"",
                                                          "\"a\nb\"",
                                                          "'a'",
                                                          "{\"a\" 1}",
                                                          "[1}",
                                                          "{a:1}",
                                                          "\"\\ud80\"",
                                                          "\"\\ud800\\u\"",
                                                          "01e999",
                                                          "1e999e",
                                                          "[1e999",
                                                          "1e999 x",
                                                          std::string("1\0", 2),
                                                          std::string("1\0{}", 4),
                                                          "// c\n1",
                                                          "\xef\xbb\xbf{}"}) {
    CAPTURE(text);
    const auto document = Document::parse(text);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == ErrorCode::parse_error);
    CHECK(document.error().for_caller.find("at byte") == 0);
  }
}

TEST_CASE("Document: half a surrogate pair reads as U+FFFD, and the bytes of values have that") {
  const std::string lost = "\xef\xbf\xbd", smile = "\xf0\x9f\x98\x80";
  const std::vector<std::pair<std::string, std::string>> texts{
      {R"(\ud83d)", lost},
      {R"(\uDE00)", lost},
      {R"(\ud83d\ude00)", smile},
      {R"(\ude00\ud83d)", lost + lost},
      {R"(\ud83d\ud83d\ude00)", lost + smile},
      {R"(\ud83d\n)", lost + "\n"},
      {R"(\ud83dx)", lost + "x"},
      {R"(\\ud83d\ude00)", R"(\ud83d)" + lost},
      {R"(\ud7ff\ue000)", "\xed\x9f\xbf\xee\x80\x80"},
  };
  for (const auto& [escaped, expected] : texts) {
    CAPTURE(escaped);
    const auto value = Document::parse(R"([1e999,")" + escaped + R"(",{")" + escaped + R"(":0}])");
    REQUIRE(value);
    std::string decoded, key;
    for (const auto item : value->root()) {
      if (item.is_string()) decoded = item.str();
      for (const auto member : item) key = member.key();
    }
    CHECK(decoded == expected);
    CHECK(key == expected);
    const bool is_mended = expected.find(lost) != std::string::npos;
    CHECK(value->root().is_mended() == is_mended);
    CHECK((value->root().raw().find("\\ufffd") != std::string_view::npos) == is_mended);
  }
  // A text that is borrowed, and one that is refused for another reason, at its place.
  const std::string borrowed = R"({"a":"\udc00","b":[1]})";
  const Document view = Document::view_of(borrowed);
  CHECK(view.root()["a"].string() == lost);
  CHECK(borrowed.substr(view.root()["b"].offset(), 3) == "[1]");
  const auto refused = Document::parse(R"(["\udc00",])");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().for_caller.starts_with("at byte 10"));
}

TEST_CASE("Document: invalid UTF-8 is found at every position of a long text") {
  for (std::size_t place = 1; place < 33; ++place) {
    std::string text = '"' + std::string(32, 'a') + '"';
    CHECK(Document::parse(text).has_value());
    text[place] = '\xff';
    CAPTURE(place);
    CHECK_FALSE(Document::parse(text).has_value());
  }
}

TEST_CASE("Document: nesting is bounded, and a million brackets are refused") {
  CHECK(Document::parse(std::string(100, '[') + std::string(100, ']')));
  CHECK_FALSE(Document::parse(std::string(101, '[') + std::string(101, ']')));
  CHECK_FALSE(Document::parse(std::string(1'000'000, '[')));
}

TEST_CASE("Document: comments are skipped if they are allowed") {
  const auto document = Document::parse(
      "// first\n{ /* a: */ \"a\" /* , */ : /* { */ 5, // five\n \"b\":[ /*x*/ 1 ] }", {100, true});
  REQUIRE(document);
  CHECK(document->root()["a"].raw() == "5");
  CHECK(document->root()["b"].raw() == "[ /*x*/ 1 ]");
}

TEST_CASE("Document: positions are given in lines and characters, and pointers find values") {
  const std::string text = "{\n \"é\": [1,\n  {\"a/b\": 2}]}";
  const auto document = Document::parse_view(text);
  REQUIRE(document);
  const auto place = [&](std::string_view pointer) {
    const std::string_view at = baton::json::nearest_value(document->root(), pointer).raw();
    const baton::json::TextPlace found =
        baton::json::place_at(text, static_cast<std::size_t>(at.data() - text.data()));
    return std::to_string(found.line) + ":" + std::to_string(found.column);
  };
  CHECK(place("") == "1:1");
  CHECK(place("/é/0") == "2:8");
  CHECK(place("/é/1/a~1b") == "3:11");
  CHECK(place("/é/1/missing/deeper") == "3:3");
  CHECK(place("/é/7") == "2:7");
  const auto broken = Document::parse_view("{\n \"a\": 1\n \"b\": 2}", {.lines = true});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().for_caller.starts_with("3:2: "));
}

// An algorithm that is quadratic in the number of digits would never finish.
TEST_CASE("Document: millions of digits that are not a number are refused in linear time") {
  CHECK_FALSE(Document::parse("[1e999," + std::string(4'000'000, '0') + "]"));
  CHECK_FALSE(Document::parse("[1e999," + std::string(4'000'000, '-') + "]"));
  CHECK(Document::parse("[1e999," + std::string(4'000'000, '7') + "]"));
}

TEST_CASE("Document: numbers beyond the range of machine numbers keep their text") {
  const std::string digits(400, '9');
  const std::string text =
      R"({"a":1e999,"b":[-)" + digits + R"(,-2E+999,7],"c":"1e999 \"2e999","d":12,"e":1e5})";
  const auto document = Document::parse(text);
  REQUIRE_MESSAGE(document, document.error().for_caller);
  const Value root = document->root();
  CHECK(root.raw() == text);
  CHECK(root["a"].raw() == "1e999");
  CHECK(root["b"].raw() == "[-" + digits + ",-2E+999,7]");
  CHECK(root["c"].string() == "1e999 \"2e999");
  CHECK(root["d"].integer() == 12);
  CHECK(root["e"].integer() == 100000);
  CHECK_FALSE(root["a"].integer());
  CHECK_FALSE(root["a"].real());
}

TEST_CASE("Document: a parsed document uses at most eight times the text's size") {
  constexpr std::size_t kSize = 1 << 20;
  for (const std::string piece : {"1,", "[],", "\"\",", "\"\\n\",", "{\"\":1},", "{\"\\n\":\"\\t\"},",
                                  "-1e9,", "null,", "[[[[1]]]],", "\"a,b:c[d{e\","}) {
    CAPTURE(piece);
    std::string text = "[";
    while (text.size() < kSize) text += piece;
    text += "0]";
    const auto document = Document::parse_view(text);
    REQUIRE(document);
    CHECK(document->memory() <= 8 * text.size() + 64);
    CHECK(document->root().size() > kSize / 16);
  }
}

TEST_CASE("Document: members, keys and nested values are found at their own levels") {
  const auto document = Document::parse(R"({"a":{"b":{}},"c":[{"d":1},"e",[],{}],"":"","\u0066":"\u0067"})");
  REQUIRE(document);
  const Value root = document->root();
  CHECK(root.key().empty());
  std::vector<std::string> keys;
  for (const Value member : root) keys.emplace_back(member.key());
  CHECK(keys == std::vector<std::string>{"a", "c", "", "f"});
  CHECK(root.size() == 4);
  CHECK(root["a"]["b"].is_object());
  CHECK(root["a"]["b"].size() == 0);
  CHECK(root["a"]["b"].key() == "b");
  std::vector<std::string> items;
  for (const Value item : root["c"]) {
    CHECK(item.key().empty());
    items.emplace_back(item.raw());
  }
  CHECK(items == std::vector<std::string>{R"({"d":1})", R"("e")", "[]", "{}"});
  CHECK(root["c"].size() == 4);
  CHECK(root["f"].string() == "g");
  CHECK(root[""].is_string());
  CHECK(root["e"].missing());
  for (const Value none : root["c"]["x"]) FAIL(none.raw());
}

TEST_CASE("same_value: order and notation do not matter, and the last of repeated members counts") {
  const auto same = [](const char* one, const char* other) {
    const auto first = Document::parse_view(one), second = Document::parse_view(other);
    REQUIRE(first);
    REQUIRE(second);
    const bool is_same = baton::json::same_value(first->root(), second->root());
    CHECK(is_same == baton::json::same_value(second->root(), first->root()));
    return is_same;
  };
  CHECK(same(R"({"a":1,"b":[2.0,"x"]})", R"({"b":[2,"\u0078"],"a":1})"));
  CHECK(same(R"({"a":1,"a":{}})", R"({"a":1,"a":{}})"));
  CHECK(same(R"({"a":1,"a":2})", R"({"a":2})"));
  CHECK_FALSE(same(R"({"a":1,"a":1})", R"({"a":1,"b":2})"));
  CHECK_FALSE(same(R"({"a":1,"a":2})", R"({"a":1})"));
  CHECK_FALSE(same(R"([1,2])", R"([2,1])"));
  CHECK_FALSE(same(R"({})", R"([])"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers have their own allocator

TEST_CASE("Document: a lack of memory is an exception, not a crash") {
  const std::string text = "\"" + std::string(64 << 20, 'x') + "\\n\"";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Enough for the memory in use, but not for a copy of the string.
    rlimit little{};
    little.rlim_cur = little.rlim_max = 32 << 20;
    ::setrlimit(RLIMIT_AS, &little);
    try {
      const auto parsed = Document::parse_view(text);
      ::_exit(parsed ? 1 : 2);
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#endif

}  // namespace document_test
