#include "json/writer.h"

#include <doctest/doctest.h>

#include <limits>

#include "json/document.h"

namespace writer_test {

using baton::json::Document;
using baton::json::Writer;

TEST_CASE("Writer: nested objects and lists get their commas") {
  std::string out = "kept:";
  Writer w(out);
  w.object([&] {
    w.member("a", 1).member("b", "x");
    w.key("c").array([&] { w.integer(1).object([] {}).array([] {}).null(); });
    w.member("d", true).optional("e", "").optional("f", baton::task::Json{});
    w.member("g", baton::task::Json{"{ \"raw\" : 1 }"});
  });
  CHECK(out == R"(kept:{"a":1,"b":"x","c":[1,{},[],null],"d":true,"g":{ "raw" : 1 }})");
}

TEST_CASE("Writer: every byte below 0x80 survives a round trip") {
  std::string text;
  for (int c = 0; c < 0x80; ++c) text += static_cast<char>(c);
  text += "é中😀";
  std::string out;
  Writer(out).string(text);
  const auto document = Document::parse(out);
  REQUIRE(document);
  CHECK(document->root().string() == text);
}

TEST_CASE("Writer: special characters are escaped at every position of a long text") {
  for (const char special : {'"', '\\', '\n', '\x1f', '\0', ' ', '\x7f', '\x80', '\xff'}) {
    for (std::size_t place = 0; place < 40; ++place) {
      std::string text(40, 'a');
      text[place] = special;
      std::string out;
      Writer(out).string(text);
      CAPTURE(place);
      const bool escaped = special == '"' || special == '\\' || static_cast<unsigned char>(special) < 0x20;
      CHECK((out.size() > text.size() + 2) == escaped);
      if (static_cast<unsigned char>(special) >= 0x80) continue;  // not valid UTF-8 by itself
      const auto document = Document::parse(out);
      REQUIRE(document);
      CHECK(document->root().string() == text);
    }
  }
}

TEST_CASE("Writer: numbers that JSON cannot represent become null") {
  std::string out;
  Writer w(out);
  w.array([&] { w.real(0.4).real(std::numeric_limits<double>::infinity()).real(1e300); });
  CHECK(out == "[0.4,null,1e+300]");
}

}  // namespace writer_test
