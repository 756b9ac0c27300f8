#include "engine/decide/rules/unfinished_subagents.h"

#include <doctest/doctest.h>

namespace unfinished_subagents_test {

using namespace baton;
using Phase = task::Subagent::Phase;

TEST_CASE("UnfinishedSubagents: only the start of one not open and the end of an open one are logged") {
  engine::UnfinishedSubagents open;
  CHECK_FALSE(open.follow({"a", "x", Phase::finished, {}}));
  CHECK(open.follow({"a", "x", Phase::started, {}}));
  CHECK_FALSE(open.follow({"a", "x", Phase::started, {}}));
  CHECK(open.follow({"a", "x", Phase::failed, "no"}));
  CHECK_FALSE(open.follow({"a", "x", Phase::finished, {}}));
  CHECK(open.close_all("left").empty());
}

TEST_CASE("UnfinishedSubagents: close_all ends the open ones in the order in which they began") {
  engine::UnfinishedSubagents open;
  open.follow({"a", "x", Phase::started, {}});
  open.follow({"b", "y", Phase::started, {}});
  const auto ends = open.close_all("left");
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].id == "a");
  CHECK(ends[1].id == "b");
  CHECK(ends[1].name == "y");
  CHECK(ends[1].phase == Phase::failed);
  CHECK(ends[1].error == "left");
  CHECK(open.close_all("left").empty());
}

TEST_CASE("UnfinishedSubagents: undo reverts an event") {
  engine::UnfinishedSubagents open;
  open.follow({"a", "x", Phase::started, {}});
  open.follow({"a", "x", Phase::failed, "no"});
  open.undo({"a", "x", Phase::failed, "no"});
  CHECK(open.awaited().size() == 1);
  open.undo({"a", "x", Phase::started, {}});
  CHECK(open.awaited().empty());
}

TEST_CASE("UnfinishedSubagents: a subagent that asks is open, but awaited only after the answer") {
  engine::UnfinishedSubagents open;
  CHECK_FALSE(open.follow({"a", "x", Phase::asks, {}}));
  open.follow({"a", "x", Phase::started, {}, "d1", {7}, {1}});
  CHECK_FALSE(open.follow({"a", "x", Phase::answered, {}}));
  CHECK(open.follow({"a", "x", Phase::asks, {}}));
  CHECK_FALSE(open.follow({"a", "x", Phase::asks, {}}));
  CHECK(open.awaited().empty());
  CHECK(open.open_id({7}) == "a");
  CHECK(open.follow({"a", "x", Phase::answered, {}, "d2", {7}, {5}}));
  REQUIRE(open.awaited().size() == 1);
  CHECK(open.awaited()[0].call == "d2");
  CHECK(open.awaited()[0].after == task::EventNumber{5});
  CHECK(open.follow({"a", "x", Phase::finished, {}}));
  CHECK(open.open_id({7}).empty());
}

}  // namespace unfinished_subagents_test
