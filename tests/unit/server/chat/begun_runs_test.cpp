#include "server/chat/begun_runs.h"

#include <doctest/doctest.h>

using baton::server::chat::BegunRuns;
using baton::task::EventNumber;
using baton::task::TaskKey;

TEST_CASE("BegunRuns: a conversation is claimed by one at a time, until the claim goes") {
  BegunRuns runs;
  auto claim = runs.claim("a", "");
  REQUIRE(claim);
  CHECK_FALSE(runs.claim("a", ""));
  CHECK(runs.claim("b", ""));
  const auto copy = claim;
  claim.reset();
  CHECK_FALSE(runs.claim("a", ""));
}

TEST_CASE("BegunRuns: a claim that is given back can be had again, and may outlive the rest") {
  BegunRuns::Claim last;
  {
    BegunRuns runs;
    CHECK(runs.claim("a", ""));
    last = runs.claim("a", "");
    REQUIRE(last);
  }
  last.reset();
}

TEST_CASE("BegunRuns: the last run of a task is known by where it begins") {
  BegunRuns runs;
  runs.add(TaskKey{1}, EventNumber{0});
  CHECK(runs.has(TaskKey{1}, EventNumber{0}));
  CHECK_FALSE(runs.has(TaskKey{2}, EventNumber{0}));
  runs.add(TaskKey{1}, EventNumber{5});
  CHECK(runs.has(TaskKey{1}, EventNumber{5}));
  CHECK_FALSE(runs.has(TaskKey{1}, EventNumber{0}));
}

TEST_CASE("BegunRuns: old runs are forgotten, new ones are not") {
  BegunRuns runs;
  for (std::int64_t task = 1; task <= 10'001; ++task) runs.add(TaskKey{task}, EventNumber{0});
  CHECK_FALSE(runs.has(TaskKey{1}, EventNumber{0}));
  CHECK(runs.has(TaskKey{2}, EventNumber{0}));
  CHECK(runs.has(TaskKey{10'001}, EventNumber{0}));
}

TEST_CASE("BegunRuns: the same run may be begun by several at once, another one not") {
  BegunRuns runs;
  const auto first = runs.claim("a", "r1");
  CHECK(runs.claim("a", "r1"));
  CHECK_FALSE(runs.claim("a", "r2"));
  CHECK_FALSE(runs.claim("a", ""));
}
