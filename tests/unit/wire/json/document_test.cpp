#include "wire/json/document.h"

#include <doctest/doctest.h>

using baton::base::ErrorCode;
using baton::wire::Document;
using baton::wire::ParseOptions;
using baton::wire::Value;

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

TEST_CASE("Document: a missing member is missing and null is absent") {
  const auto document = Document::parse(R"({"n":null})");
  REQUIRE(document);
  CHECK(document->root()["x"].missing());
  CHECK_FALSE(document->root()["n"].missing());
  CHECK(document->root()["n"].absent());
  CHECK(document->root()["x"]["y"]["z"].missing());
  CHECK(document->root()["n"].size() == 0);
}

TEST_CASE("Document: of a repeated member the last counts and the repetition can be seen") {
  const auto document = Document::parse(R"({"a":1,"b":0,"a":2})");
  REQUIRE(document);
  CHECK(document->root()["a"].integer() == 2);
  CHECK(document->root().repeats("a"));
  CHECK_FALSE(document->root().repeats("b"));
}

TEST_CASE("Document: what is not JSON is refused") {
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
                                                          "\"\\ud800\"",
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

TEST_CASE("Document: a byte that is no UTF-8 is found at every place of a long text") {
  for (std::size_t place = 1; place < 33; ++place) {
    std::string text = '"' + std::string(32, 'a') + '"';
    CHECK(Document::parse(text).has_value());
    text[place] = '\xff';
    CAPTURE(place);
    CHECK_FALSE(Document::parse(text).has_value());
  }
}

TEST_CASE("Document: nesting is bounded and a million brackets do no harm") {
  CHECK(Document::parse(std::string(100, '[') + std::string(100, ']')));
  CHECK_FALSE(Document::parse(std::string(101, '[') + std::string(101, ']')));
  CHECK_FALSE(Document::parse(std::string(1'000'000, '[')));
}

TEST_CASE("Document: comments are read where they are allowed") {
  const auto document = Document::parse(
      "// first\n{ /* a: */ \"a\" /* , */ : /* { */ 5, // five\n \"b\":[ /*x*/ 1 ] }", {100, true});
  REQUIRE(document);
  CHECK(document->root()["a"].raw() == "5");
  CHECK(document->root()["b"].raw() == "[ /*x*/ 1 ]");
}

// With a step for each pair of digits this would not end in the life of the test's machine.
TEST_CASE("Document: millions of digits that are no number are refused as fast as they are read") {
  CHECK_FALSE(Document::parse("[1e999," + std::string(4'000'000, '0') + "]"));
  CHECK_FALSE(Document::parse("[1e999," + std::string(4'000'000, '-') + "]"));
  CHECK(Document::parse("[1e999," + std::string(4'000'000, '7') + "]"));
}

TEST_CASE("Document: numbers that no machine number can hold are kept as they are") {
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
