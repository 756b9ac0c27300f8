#include "agents/said_replies.h"

#include <doctest/doctest.h>

#include "support/growth.h"

namespace said_replies_test {

using namespace baton;
using agents::SaidReplies;

namespace {

task::TextDelta piece(const std::string& id, const std::string& text, bool first, bool last = false) {
  return {{id}, 0, text, first, last};
}

std::string text_of(SaidReplies said) {
  std::string text;
  for (const agents::SaidReply& one : std::move(said).take())
    text += "[" + one.text + (one.is_open ? "" : ".") + "]";
  return text;
}

}  // namespace

TEST_CASE("SaidReplies: replies go on, begin again, are withdrawn, and return") {
  SaidReplies said;
  said.add(piece("a", "one", true));
  said.add(piece("b", "two", true, true));
  said.add(piece("a", " more", false));
  CHECK(text_of(said) == "[one more][two.]");
  said.add(piece("a", "again", true));
  CHECK(text_of(said) == "[again][two.]");
  said.add(piece("b", "", true, true));
  CHECK(text_of(said) == "[again]");
  said.drop({{{"a"}, {"unknown"}}});
  CHECK(text_of(said).empty());
  said.add(piece("a", "anew", true));
  CHECK(text_of(said) == "[anew]");
}

TEST_CASE("SaidReplies: a log of many replies or restarts is folded in linear time") {
  test::keep_memory();
  test::check_growth("replies, withdrawn at once", 4'000, [](std::size_t count) {
    return [count] {
      SaidReplies said;
      task::Withdrawn all;
      for (std::size_t i = 0; i < count; ++i) {
        all.artifacts.push_back({"r" + std::to_string(i)});
        said.add(piece(all.artifacts.back().value, "x", true));
      }
      said.drop(all);
      REQUIRE(text_of(std::move(said)).empty());
    };
  });
  test::check_growth("restarts", 4'000, [](std::size_t count) {
    return [count] {
      SaidReplies said;
      for (std::size_t i = 0; i < count; ++i) said.add(piece("r", i % 2 == 0 ? "x" : "", true, true));
      REQUIRE(std::move(said).take().size() <= 1);
    };
  });
}

}  // namespace said_replies_test
