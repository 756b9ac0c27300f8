#include "store/sqlite/change_plan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace change_plan_test {

using namespace baton;
using base::ErrorCode;
using store::Change;
using store::sqlite::ChangePlan;
using store::sqlite::HeadRow;
using store::sqlite::KnownArtifact;
using store::sqlite::Mark;
using task::State;

namespace {

const base::Timestamp kNow = base::from_ms(1234);

HeadRow row(State state) {
  HeadRow made;
  made.head.key = {1};
  made.head.state = state;
  made.head.last_event = {10};
  made.head.version = {5};
  made.head.artifact_count = 2;
  made.status_event = {9};
  return made;
}

// Artifact "old" is there with ordinal 0, "gone" is withdrawn with ordinal 1.
std::optional<KnownArtifact> find(const task::ArtifactId& id) {
  if (id.value == "old") return KnownArtifact{0, false};
  if (id.value == "gone") return KnownArtifact{1, true};
  return std::nullopt;
}

Change change(std::vector<task::EventBody> events) {
  Change made;
  made.task = {1};
  made.events = std::move(events);
  return made;
}

base::Result<ChangePlan> plan(State state, Change& change) {
  return plan_change(row(state), change, kNow, find);
}

task::StatusChanged status(State state) {
  return {{state, std::nullopt, {}}, {}};
}
task::TextDelta delta(const std::string& id, bool first = false) {
  return {{id}, 0, "x", first, false};
}

}  // namespace

TEST_CASE("ChangePlan: the moves that are allowed are those of the state table") {
  for (int from = 0; from <= static_cast<int>(State::rejected); ++from) {
    for (int to = 0; to <= static_cast<int>(State::rejected); ++to) {
      const State before = static_cast<State>(from), after = static_cast<State>(to);
      Change moved = change({status(after)});
      const auto planned = plan(before, moved);
      CHECK(planned.has_value() == task::may_move(before, after));
      if (planned) CHECK(planned->row.head.state == after);
      if (planned) CHECK(planned->row.status_event.value == 11);
      Change reopened = change({status(after)});
      reopened.reopen = true;
      const bool opens =
          task::is_terminal(before) ? after == State::submitted : task::may_move(before, after);
      CHECK(plan(before, reopened).has_value() == opens);
    }
  }
}

TEST_CASE("ChangePlan: a status without a time gets the time of the commit, another keeps its own") {
  Change made = change({status(State::working), status(State::working)});
  std::get<task::StatusChanged>(made.events[1]).status.at = base::from_ms(7);
  REQUIRE(plan(State::working, made).has_value());
  CHECK(std::get<task::StatusChanged>(made.events[0]).status.at == kNow);
  CHECK(std::get<task::StatusChanged>(made.events[1]).status.at == base::from_ms(7));
}

TEST_CASE("ChangePlan: pieces go to their artifact, and begin where there is none to go on with") {
  Change made = change({delta("old"), delta("gone"), delta("new"), delta("new"), delta("old", true)});
  const auto planned = plan(State::working, made);
  REQUIRE(planned.has_value());
  const std::vector<std::pair<int, Mark>> expected{
      {0, Mark::more}, {1, Mark::begins}, {2, Mark::begins}, {2, Mark::more}, {0, Mark::begins}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& event = std::get<task::TextDelta>(made.events[i]);
    REQUIRE(planned->events[i].marks.size() == 1);
    CHECK(planned->events[i].marks[0].ordinal == expected[i].first);
    CHECK(planned->events[i].marks[0].mark == expected[i].second);
    CHECK(event.ordinal == expected[i].first);
    CHECK(event.first == (expected[i].second == Mark::begins));
    CHECK(planned->events[i].reply_begins.has_value() == event.first);
  }
  CHECK(planned->row.head.artifact_count == 3);
  CHECK(planned->new_artifacts == std::vector<task::ArtifactId>{{"new"}});
  CHECK_FALSE(planned->decides);
  CHECK(planned->row.head.version.value == 5);
}

TEST_CASE("ChangePlan: only what is there can be withdrawn") {
  Change made = change({task::Withdrawn{{{"old"}, {"gone"}, {"unknown"}, {"old"}}}, delta("old")});
  const auto planned = plan(State::working, made);
  REQUIRE(planned.has_value());
  REQUIRE(planned->events[0].marks.size() == 1);
  CHECK(planned->events[0].marks[0].ordinal == 0);
  CHECK(planned->events[0].marks[0].mark == Mark::withdrawn);
  CHECK(planned->events[1].marks[0].mark == Mark::begins);
  CHECK(planned->row.head.artifact_count == 2);
}

TEST_CASE("ChangePlan: claims are checked before anything else") {
  Change stale = change({status(State::working)});
  stale.expected = task::Version{4};
  CHECK(plan(State::completed, stale).error().code == ErrorCode::conflict);
  Change fenced = change({delta("old")});
  fenced.fence = task::TurnNumber{0};
  CHECK(plan(State::working, fenced).error().code == ErrorCode::conflict);
}

TEST_CASE("ChangePlan: what an agent says cannot fill a log so far that its turn could not end") {
  constexpr std::int64_t kPlaces = (1 << 28) - 1, kKept = 1 << 16;
  const auto planned_at = [](std::int64_t last_event, Change made) {
    HeadRow full = row(State::working);
    full.head.last_event = {last_event};
    return plan_change(full, made, kNow, find);
  };
  Change ending = change({status(State::failed)});
  ending.turn.emplace();
  CHECK(planned_at(kPlaces - kKept - 1, change({delta("old")})).has_value());
  CHECK(planned_at(kPlaces - kKept, change({delta("old")})).error().code == ErrorCode::too_large);
  CHECK(planned_at(kPlaces - kKept, ending).has_value());
  CHECK(planned_at(kPlaces - 1, ending).has_value());
  CHECK(planned_at(kPlaces, ending).error().code == ErrorCode::too_large);
}

}  // namespace change_plan_test
