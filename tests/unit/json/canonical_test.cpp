#include "json/canonical.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <string>

namespace canonical_test {

using baton::json::Canonical;
using baton::json::canonical_json;
using baton::json::Document;
using baton::json::ecmascript_number;

namespace {

std::string canonical(const std::string& text, Canonical form = Canonical::jcs) {
  const auto document = Document::parse_view(text);
  if (!document) return "(no JSON)";
  const auto written = canonical_json(document->root(), form);
  return written ? *written : "(refused: " + written.error().for_caller + ")";
}

}  // namespace

TEST_CASE("Canonical: numbers are those of RFC 8785, appendix B") {
  const std::pair<std::uint64_t, const char*> examples[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4340000000000001, "9007199254740994"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : examples) CHECK(ecmascript_number(std::bit_cast<double>(bits)) == text);
  CHECK(canonical("[1.0, 1e2, -0, -0.0, 1E-7, 0.1e1, 4.50, 2e-3, 333333333.33333329, 1E30]") ==
        "[1,100,0,0,1e-7,1,4.5,0.002,333333333.3333333,1e+30]");
  // No double has these digits, or no double is that large.
  CHECK(canonical("9007199254740993").starts_with("(refused"));
  CHECK(canonical("[123456789012345678]").starts_with("(refused"));
  CHECK(canonical("1e400").starts_with("(refused"));
  CHECK(canonical("[9007199254740994, 1000000000000000000000]") == "[9007199254740994,1e+21]");
  // The double is 295147905179352825856, and its canonical form is one of itself.
  CHECK(canonical("[295147905179352825856, 295147905179352830000, -0]") ==
        "[295147905179352830000,295147905179352830000,0]");
}

TEST_CASE("Canonical: members are in the order of their UTF-16 units, and texts have the fewest escapes") {
  // RFC 8785, 3.2.2 and 3.2.3.
  CHECK(canonical(R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                      "literals": [null, true, false]})") ==
        R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
        "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  CHECK(
      canonical(
          R"({"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
                      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
                      "\u00f6": "Latin Small Letter O With Diaeresis"})") ==
      "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"\u00f6\":\"Latin Small Letter O "
      "With Diaeresis\",\"\u20ac\":\"Euro Sign\",\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew "
      "Letter Dalet With Dagesh\"}");
  CHECK(canonical(R"([56, {"d": true, "10": null, "1": [], "": "empty"}])") ==
        R"([56,{"":"empty","1":[],"10":null,"d":true}])");
  // Not normalized, and DEL is no control character here.
  CHECK(canonical("\"A\u030a\x7f\"") == "\"A\u030a\x7f\"");
  CHECK(canonical(R"("\b\t\n\f\r\u0001")") == R"("\b\t\n\f\r\u0001")");
  CHECK(canonical(R"({"a": 1, "\u0061": 2})").starts_with("(refused"));
  for (const char* lone : {R"("\ud800")", R"("\ude00\ud83d")", R"({"\udead": 1})", R"("\udead")"}) {
    CAPTURE(lone);
    CHECK(canonical(lone).starts_with("("));
  }
}

TEST_CASE("Canonical: the other form is that of Python's json.dumps") {
  const auto python = [](const std::string& text) { return canonical(text, Canonical::python); };
  // json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")), with numbers as floats.
  CHECK(python("[1, 0, -0.0, 0.1, 1e15, 1e16, 123456789012345680, 0.0001, 0.00001, 1.5e-7, 1e22, -2.50]") ==
        "[1.0,0.0,-0.0,0.1,1000000000000000.0,1e+16,1.2345678901234568e+17,0.0001,1e-05,1.5e-07,1e+22,-2.5]");
  CHECK(python(R"({"\ufb33": 1, "\ud83d\ude00": "é\u007f/\"\\\b", "a": [true, null]})") ==
        R"({"a":[true,null],"\ufb33":1.0,"\ud83d\ude00":"\u00e9\u007f/\"\\\b"})");
}

}  // namespace canonical_test
