#include "engine/open_subagents.h"

#include <doctest/doctest.h>

namespace open_subagents_test {

using namespace baton;
using Phase = task::Subagent::Phase;

TEST_CASE(
    "OpenSubagents: only a beginning of what is not open and an end of what is have a place in the log") {
  engine::OpenSubagents open;
  CHECK_FALSE(open.follow({"a", "x", Phase::finished, {}}));
  CHECK(open.follow({"a", "x", Phase::started, {}}));
  CHECK_FALSE(open.follow({"a", "x", Phase::started, {}}));
  CHECK(open.is_open("a"));
  CHECK(open.follow({"a", "x", Phase::failed, "no"}));
  CHECK_FALSE(open.follow({"a", "x", Phase::finished, {}}));
  CHECK_FALSE(open.is_open("a"));
  CHECK(open.close_all("left").empty());
}

TEST_CASE("OpenSubagents: all that are open are ended in the order in which they began") {
  engine::OpenSubagents open;
  open.follow({"a", "x", Phase::started, {}});
  open.follow({"b", "y", Phase::started, {}});
  const auto ends = open.close_all("left");
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].id == "a");
  CHECK(ends[1].id == "b");
  CHECK(ends[1].name == "y");
  CHECK(ends[1].phase == Phase::failed);
  CHECK(ends[1].error == "left");
  CHECK_FALSE(open.is_open("a"));
}

TEST_CASE("OpenSubagents: what is undone has not been") {
  engine::OpenSubagents open;
  open.follow({"a", "x", Phase::started, {}});
  open.follow({"a", "x", Phase::failed, "no"});
  open.undo({"a", "x", Phase::failed, "no"});
  CHECK(open.is_open("a"));
  open.undo({"a", "x", Phase::started, {}});
  CHECK_FALSE(open.is_open("a"));
}

}  // namespace open_subagents_test
