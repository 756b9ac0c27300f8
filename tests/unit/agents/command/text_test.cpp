#include "agents/text.h"

#include <doctest/doctest.h>

#include "agents/command/error_output.h"
#include "agents/command/launch_facts.h"
#include "agents/command/line_splitter.h"

namespace command_text_test {

using namespace baton::agents;

TEST_CASE("Utf8Stream: text arrives unchanged wherever it is split") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82z";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    Utf8Stream stream;
    std::string joined = stream.feed(text.substr(0, at));
    joined += stream.feed(text.substr(at));
    joined += stream.finish();
    CHECK(joined == text);
  }
}

TEST_CASE("Utf8Stream: invalid bytes become replacement characters, and the rest is unchanged") {
  const std::string bad = "\xEF\xBF\xBD";
  struct Case {
    std::string bytes, text;
  };
  const Case cases[] = {
      {"a\xFFz", "a" + bad + "z"},
      {"\xC0\xAF", bad + bad},                      // overlong
      {"\xED\xA0\x80", bad + bad + bad},            // a surrogate
      {"\xF4\x90\x80\x80", bad + bad + bad + bad},  // beyond the last character
      {"\xE2\x82z", bad + "z"},
      {"\xE2\x82", bad},
  };
  for (const Case& one : cases) {
    Utf8Stream stream;
    const std::string text = stream.feed(one.bytes);
    CHECK(text + stream.finish() == one.text);
  }
}

TEST_CASE("escaped: control characters and invalid bytes are escaped, and the length is bounded") {
  CHECK(escaped("a\tb\x1b[31m\xC3\xA9\xFF", 100) == "a\\x09b\\x1b[31m\xC3\xA9\\xff");
  CHECK(escaped("abcdef", 4) == "abcd...");
  CHECK(escaped("abc\xC3\xA9", 4) == "abc...");
}

TEST_CASE("LineSplitter: lines arrive complete wherever the input is split") {
  const std::string stream = "one\n\ntwo\r\n  \nthree";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    LineSplitter splitter(100);
    std::string heard;
    const auto hear = [&](std::string_view line) {
      heard += std::string(line) + "|";
      return true;
    };
    for (std::size_t at = 0; at < stream.size(); at += size)
      CHECK(splitter.feed(stream.substr(at, size), hear));
    splitter.finish(hear);
    CHECK(heard == "one|two\r|three|");
  }
}

TEST_CASE("LineSplitter: a line over the limit is refused, complete or not") {
  const auto ignore = [](std::string_view) { return true; };
  LineSplitter whole(4);
  CHECK(whole.feed("1234\n", ignore));
  CHECK_FALSE(whole.feed("12345\n", ignore));
  LineSplitter begun(4);
  CHECK(begun.feed("123", ignore));
  CHECK_FALSE(begun.feed("45", ignore));
}

TEST_CASE("ErrorOutput: the last line with text is kept") {
  ErrorOutput output({});
  CHECK(output.last_words().empty());
  output.feed("first\nlast");
  output.feed(" line\n\n");
  output.finish();
  CHECK(output.last_words() == "last line");
  output.feed(std::string(100000, 'x'));
  CHECK(output.last_words().size() < 400);
}

TEST_CASE("ErrorOutput: an exception's words name the place in the agent's own source") {
  const auto words = [](std::string_view text) {
    ErrorOutput output({});
    output.feed(text);
    output.finish();
    return output.last_words();
  };
  CHECK(words("Traceback (most recent call last):\n  File \"/a/agent.py\", line 14, in answer\n    return "
              "cities[0]\n"
              "  File \"/usr/lib/python3.11/json/x.py\", line 3, in loads\n    raise KeyError\nKeyError: "
              "'city'\n") == "KeyError: 'city' (/a/agent.py:14)");
  CHECK(words("/a/agent.js:3\n  throw new Error(\"x\");\n  ^\n\nError: x\n    at answer (/a/agent.js:3:9)\n"
              "    at node:internal/main/run:1:2\n\nNode.js v18.19.0\n") == "Error: x (/a/agent.js:3)");
  // The text of an error may have several lines, and its members follow its stack.
  const std::string missing =
      "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'x'\nRequire "
      "stack:\n"
      "- /a/agent.js\n    at require (node:internal/modules/helpers:182:18)\n    at Object.<anonymous> "
      "(/a/agent.js:1:19) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n";
  CHECK(words(missing) == "Error: Cannot find module 'x' (/a/agent.js:1)");
  CHECK(words("/a/agent.js:1\nconst {\n      ^\n\nSyntaxError: Unexpected token\n    at "
              "node:internal/main/run:1:2\n"
              "\nNode.js v20.20.2\n") == "SyntaxError: Unexpected token (/a/agent.js:1)");
  CHECK(words("Error: logged\n    at log (/a/log.js:7:1)\n/a/agent.js:3\nthrow 'done'\n^\ndone\n(Use `node "
              "--trace-uncaught ...`)\nNode.js v20.20.2\n") == "done (/a/agent.js:3)");
  CHECK(words("Traceback (most recent call last):\n  File \"/a/agent.py\", line 4, in answer\n    "
              "Order(days='x')\n"
              "ValidationError: 1 error for Order\ndays\n  Input should be an integer\n") ==
        "ValidationError: 1 error for Order (/a/agent.py:4)");
  CHECK(words("  File \"\", line \n") == "  File \"\", line");
}

TEST_CASE("ErrorOutput: the last 64 KiB are kept from a whole line on, until they are forgotten") {
  ErrorOutput output({});
  output.feed("first\n" + std::string(ErrorOutput::kKeptMax, 'x') + "\nlast \xff line\n\n");
  CHECK(output.text() == "last \xef\xbf\xbd line");
  output.forget(true);
  output.feed("another");
  CHECK(output.text() == "another");
  output.forget(false);
  output.feed("of nobody");
  CHECK(output.text().empty());
  for (int i = 0; i < 10; ++i) output.feed(std::string(100'000, 'y'));
  output.forget(true);
  for (int i = 0; i < 10; ++i) output.feed("\n" + std::string(30'000, 'z'));
  CHECK(output.text().size() == 60'001);
}

TEST_CASE("masked_errors: values of secret variables are hidden, paths and other values are not") {
  ::setenv("BATON_TEST_PASSED_ON", "passed-on-value", 1);
  ::setenv("BATON_TEST_PATH", "/usr/lib/python", 1);
  AgentSettings settings;
  settings.env = {{"API_KEY", "key-of-card"}, {"MODE", "production"}};
  settings.env_from = {"BATON_TEST_PASSED_ON", "BATON_TEST_PATH", "BATON_TEST_UNSET"};
  CHECK(masked_errors(settings, "key-of-card passed-on-value production /usr/lib/python") ==
        "*** *** production /usr/lib/python");
}

}  // namespace command_text_test
