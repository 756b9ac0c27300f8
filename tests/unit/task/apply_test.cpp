#include "task/apply.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "task/fold.h"

namespace apply_test {

using namespace baton;
using base::ErrorCode;
using task::Applied;
using task::Change;
using task::State;
using task::TaskHead;

namespace {

const base::Timestamp kNow = base::from_ms(1234);

TaskHead head(State state) {
  TaskHead made;
  made.key = {1};
  made.state = state;
  made.last_event = {10};
  made.version = {5};
  made.artifact_count = 2;
  made.status_event = {9};
  return made;
}

// The artifact "old" exists with ordinal 0, and "gone" with ordinal 1 is withdrawn.
const task::ArtifactPlaces kPlaces{{{"old"}, {0, false}}, {{"gone"}, {1, true}}};

Change change(std::vector<task::EventBody> events) {
  Change made;
  made.task = {1};
  made.events = std::move(events);
  return made;
}

base::Result<Applied> applied_to(State state, Change& change) {
  return task::apply(head(state), change, kNow, kPlaces);
}

task::StatusChanged status(State state) {
  return {{state, std::nullopt, {}}, {}};
}
task::TextDelta delta(const std::string& id, bool first = false) {
  return {{id}, 0, "x", first, false};
}

}  // namespace

TEST_CASE("apply: the allowed changes of state are those of the state table") {
  for (int from = 0; from <= static_cast<int>(State::rejected); ++from) {
    for (int to = 0; to <= static_cast<int>(State::rejected); ++to) {
      const State before = static_cast<State>(from), after = static_cast<State>(to);
      Change moved = change({status(after)});
      const auto applied = applied_to(before, moved);
      CHECK(applied.has_value() == task::may_move(before, after));
      if (applied) CHECK(applied->head.state == after);
      if (applied) CHECK(applied->head.status_event.value == 11);
      Change reopened = change({status(after)});
      reopened.reopen = true;
      const bool opens =
          task::is_terminal(before) ? after == State::submitted : task::may_move(before, after);
      CHECK(applied_to(before, reopened).has_value() == opens);
    }
  }
}

TEST_CASE("apply: a status without a time gets the time of the commit, otherwise it keeps its own") {
  Change made = change({status(State::working), status(State::working)});
  std::get<task::StatusChanged>(made.events[1]).status.at = base::from_ms(7);
  REQUIRE(applied_to(State::working, made).has_value());
  CHECK(std::get<task::StatusChanged>(made.events[0]).status.at == kNow);
  CHECK(std::get<task::StatusChanged>(made.events[1]).status.at == base::from_ms(7));
}

TEST_CASE("apply: pieces are added to their artifact, and the first piece begins it") {
  Change made = change({delta("old"), delta("gone"), delta("new"), delta("new"), delta("old", true)});
  const auto applied = applied_to(State::working, made);
  REQUIRE(applied.has_value());
  const std::vector<std::pair<int, bool>> expected{{0, false}, {1, true}, {2, true}, {2, false}, {0, true}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& event = std::get<task::TextDelta>(made.events[i]);
    CHECK(event.ordinal == expected[i].first);
    CHECK(event.first == expected[i].second);
  }
  CHECK(applied->head.artifact_count == 3);
  CHECK(applied->artifacts.at({"new"}).ordinal == 2);
  for (const auto& [id, place] : applied->artifacts) CHECK_FALSE(place.withdrawn);
  CHECK_FALSE(applied->decides);
  CHECK(applied->head.version.value == 5);
}

TEST_CASE("apply: only existing artifacts can be withdrawn") {
  Change made = change({task::Withdrawn{{{"old"}, {"gone"}, {"unknown"}, {"old"}}}, delta("old")});
  const auto applied = applied_to(State::working, made);
  REQUIRE(applied.has_value());
  CHECK(std::get<task::TextDelta>(made.events[1]).first);
  CHECK_FALSE(applied->artifacts.at({"old"}).withdrawn);
  CHECK(applied->artifacts.at({"gone"}).withdrawn);
  CHECK_FALSE(applied->artifacts.contains({"unknown"}));
  CHECK(applied->head.artifact_count == 2);
}

TEST_CASE("apply: version and fence are checked before anything else") {
  Change stale = change({status(State::working)});
  stale.expected = task::Version{4};
  CHECK(applied_to(State::completed, stale).error().code == ErrorCode::conflict);
  Change fenced = change({delta("old")});
  fenced.fence = {task::TurnNumber{0}, 1};
  CHECK(applied_to(State::working, fenced).error().code == ErrorCode::conflict);
}

TEST_CASE("apply: an agent's output cannot fill the log, so its turn can always end") {
  constexpr std::int64_t kLast = (1 << 28) - 1, kKept = 1 << 16;
  const auto applied_at = [](std::int64_t last_event, Change made) {
    TaskHead full = head(State::working);
    full.last_event = {last_event};
    return task::apply(full, made, kNow, kPlaces);
  };
  Change ending = change({status(State::failed)});
  ending.turn.emplace();
  CHECK(applied_at(kLast - kKept - 1, change({delta("old")})).has_value());
  CHECK(applied_at(kLast - kKept, change({delta("old")})).error().code == ErrorCode::too_large);
  CHECK(applied_at(kLast - kKept, ending).has_value());
  CHECK(applied_at(kLast - 1, ending).has_value());
  CHECK(applied_at(kLast, ending).error().code == ErrorCode::too_large);
}

TEST_CASE("apply: a waiting turn is queued when no child is awaited any more") {
  using Phase = task::Subagent::Phase;
  Change waits = change({task::Subagent{"a", "x"}, task::Subagent{"b", "y"}});
  waits.turn.emplace();
  waits.turn->state = task::TurnState::waiting;
  const auto waiting = applied_to(State::working, waits);
  REQUIRE(waiting);
  CHECK(waiting->head.turn_state == task::TurnState::waiting);
  CHECK(waiting->head.awaited == 2);
  const auto then = [](const TaskHead& before, Phase phase) {
    Change next = change({task::Subagent{"a", "x", phase, {}}});
    return task::apply(before, next, kNow, kPlaces)->head;
  };
  const TaskHead one_asks = then(waiting->head, Phase::asks);
  CHECK(one_asks.awaited == 1);
  CHECK(one_asks.turn_state == task::TurnState::waiting);
  CHECK(then(one_asks, Phase::answered).awaited == 2);
  const TaskHead none = then(one_asks, Phase::failed);
  CHECK(none.awaited == 0);
  CHECK(none.turn_state == task::TurnState::queued);
  CHECK(none.version > one_asks.version);

  Change waits_for_nothing = change({});
  waits_for_nothing.turn.emplace();
  waits_for_nothing.turn->state = task::TurnState::waiting;
  CHECK(applied_to(State::working, waits_for_nothing)->head.turn_state == task::TurnState::queued);
}

TEST_CASE("apply: a waiting turn is queued when few enough children are left, or after a failure") {
  using Phase = task::Subagent::Phase;
  const auto waiting = [](task::Waits waits, Phase first) {
    Change change = apply_test::change({task::Subagent{"a", "x"}, task::Subagent{"b", "y"},
                                        task::Subagent{"c", "z"}, task::Subagent{"a", "x", first, {}}});
    change.turn.emplace();
    change.turn->state = task::TurnState::waiting;
    change.turn->waits = waits;
    return applied_to(State::working, change)->head;
  };
  const auto then = [](const TaskHead& before, Phase phase) {
    Change next = change({task::Subagent{"b", "y", phase, {}}});
    return task::apply(before, next, kNow, kPlaces)->head;
  };
  const TaskHead counts = waiting({1, false}, Phase::finished);
  CHECK(counts.turn_state == task::TurnState::waiting);
  CHECK(counts.waits.open_max == 1);
  CHECK(counts.awaited == 2);
  const TaskHead enough = then(counts, Phase::failed);
  CHECK(enough.turn_state == task::TurnState::queued);
  CHECK(enough.awaited == 1);
  CHECK(enough.waits == task::Waits());
  CHECK(waiting({2, false}, Phase::finished).turn_state == task::TurnState::queued);

  const TaskHead careful = waiting({0, true}, Phase::finished);
  CHECK(then(careful, Phase::finished).turn_state == task::TurnState::waiting);
  CHECK(then(careful, Phase::failed).turn_state == task::TurnState::queued);
  CHECK(waiting({0, true}, Phase::failed).turn_state == task::TurnState::queued);
  CHECK(waiting({0, false}, Phase::failed).turn_state == task::TurnState::waiting);
}

TEST_CASE("apply: a turn that waits for a time is queued by its children's end or explicitly") {
  using Phase = task::Subagent::Phase;
  Change sleeps = change({});
  sleeps.turn.emplace();
  sleeps.turn->state = task::TurnState::waiting;
  sleeps.turn->waits = {-1, false, kNow};
  const TaskHead asleep = applied_to(State::working, sleeps)->head;
  CHECK(asleep.turn_state == task::TurnState::waiting);
  Change wakes = change({});
  wakes.turn.emplace();
  wakes.turn->state = task::TurnState::queued;
  const TaskHead awake = task::apply(asleep, wakes, kNow, kPlaces)->head;
  CHECK(awake.turn_state == task::TurnState::queued);
  CHECK_FALSE(awake.waits.until);

  Change both = change({task::Subagent{"a", "x"}});
  both.turn = sleeps.turn;
  both.turn->waits.open_max = 0;
  const TaskHead patient = applied_to(State::working, both)->head;
  CHECK(patient.turn_state == task::TurnState::waiting);
  Change ends = change({task::Subagent{"a", "x", Phase::finished, {}}});
  CHECK(task::apply(patient, ends, kNow, kPlaces)->head.turn_state == task::TurnState::queued);

  both.turn->waits = {-1, false};  // only its child's end can wake it
  const TaskHead last = applied_to(State::working, both)->head;
  CHECK(last.turn_state == task::TurnState::waiting);
  CHECK(task::apply(last, ends, kNow, kPlaces)->head.turn_state == task::TurnState::queued);
}

TEST_CASE("apply: the mark of a failed child is cleared when the next turn is queued") {
  using Phase = task::Subagent::Phase;
  Change fails = change(
      {task::Subagent{"a", "x"}, task::Subagent{"b", "y"}, task::Subagent{"a", "x", Phase::failed, {}}});
  fails.turn.emplace();
  fails.turn->state = task::TurnState::running;
  const TaskHead running = applied_to(State::working, fails)->head;
  CHECK(running.child_failed);
  Change again = change({});
  again.turn.emplace();
  again.turn->state = task::TurnState::queued;
  const TaskHead queued = task::apply(running, again, kNow, kPlaces)->head;
  CHECK_FALSE(queued.child_failed);
  CHECK(queued.awaited == 1);
}

TEST_CASE("apply: a turn begins after the change that creates it, and a task without one awaits no child") {
  Change next = change({task::Subagent{"a", "x"}, delta("new")});
  next.turn.emplace();
  next.turn->turn = task::TurnNumber{2};
  const auto made = applied_to(State::working, next);
  CHECK(made->head.turn_begin == task::EventNumber{12});
  CHECK(made->head.awaited == 0);  // children of another turn are not awaited

  Change ends = change({task::Subagent{"a", "x"}, status(State::completed)});
  ends.turn.emplace();
  ends.turn->state = task::TurnState::none;
  CHECK(applied_to(State::working, ends)->head.awaited == 0);
}

namespace {

// Draws random changes, allowed or not, as several concurrent writers could make them.
class AnyChange {
 public:
  explicit AnyChange(unsigned seed) : random_(seed) {}

  Change draw(const TaskHead& head) {
    Change made;
    made.task = {1};
    for (int i = up_to(3); i > 0; --i) made.events.push_back(event());
    if (one_in(3)) made.expected = task::Version{head.version.value - up_to(1)};
    if (one_in(3)) made.fence = {task::TurnNumber{head.turn.value - up_to(1)}, head.attempt - up_to(1)};
    made.reopen = one_in(4);
    made.shows = one_in(8);
    if (one_in(3)) {
      made.turn.emplace();
      if (one_in(2)) made.turn->turn = task::TurnNumber{head.turn.value + 1};
      if (one_in(2)) made.turn->state = static_cast<task::TurnState>(up_to(3));
      made.turn->message_is_new = one_in(4);
    }
    if (one_in(8)) made.request.emplace();
    return made;
  }

 private:
  task::EventBody event() {
    const task::ArtifactId id{std::string(1, static_cast<char>('a' + up_to(3)))};
    switch (up_to(6)) {
      case 6:
        return task::Subagent{"s", "n", static_cast<task::Subagent::Phase>(up_to(4)), {}};
      case 0:
      case 1:
        return status(static_cast<State>(up_to(7)));
      case 2: {
        task::MessageAdded said;
        said.message.id = {"m"};
        return said;
      }
      case 3:
        return task::Withdrawn{{id}};
      case 4: {
        task::ArtifactChunk chunk;
        chunk.artifact.id = id;
        chunk.artifact.parts.emplace_back();
        chunk.append = one_in(2);
        return chunk;
      }
      default:
        return delta(id.value, one_in(4));
    }
  }

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool one_in(int count) { return up_to(count - 1) == 0; }

  std::mt19937 random_;
};

// One task, with its log and artifacts kept as a store would.
struct Life {
  TaskHead head;
  task::ArtifactPlaces places;
  std::vector<task::EventPtr> log;
  int ends = 0, openings = 0;

  Life() {
    head.key = {1};
    head.hidden = true;
  }

  // Checks the invariants of a change that was accepted.
  void take(const Change& change, Applied&& applied) {
    const TaskHead before = std::exchange(head, std::move(applied.head));
    if (change.expected) REQUIRE(*change.expected == before.version);
    if (change.fence) REQUIRE(before.turn_state == task::TurnState::running);
    if (change.fence) REQUIRE(change.fence->turn == before.turn);
    if (change.fence) REQUIRE(change.fence->attempt == before.attempt);
    REQUIRE(head.version.value == before.version.value + (applied.decides ? 1 : 0));
    REQUIRE((applied.decides || !change.events.empty()));  // every change can be seen in the head
    REQUIRE(head.last_event.value ==
            before.last_event.value + static_cast<std::int64_t>(change.events.size()));
    REQUIRE(head.awaited >= 0);
    if (head.turn_state == task::TurnState::none) REQUIRE(head.awaited == 0);
    if (head.turn_state == task::TurnState::waiting) REQUIRE((head.awaited > 0 || head.waits.until));
    REQUIRE(head.turn_begin <= head.last_event);
    if (!before.hidden) REQUIRE_FALSE(head.hidden);
    State state = before.state;
    for (const task::EventBody& body : change.events) {
      if (task::is_terminal(state)) REQUIRE(change.reopen);
      if (const auto* changed = std::get_if<task::StatusChanged>(&body)) {
        const State to = changed->status.state;
        REQUIRE((task::is_terminal(state) ? to == State::submitted : task::may_move(state, to)));
        ends += task::is_terminal(to);
        openings += task::is_terminal(state);
        state = to;
      }
      log.push_back(std::make_shared<const task::Event>(
          task::Event{{static_cast<std::int64_t>(log.size()) + 1}, kNow, body}));
    }
    REQUIRE(head.state == state);
    REQUIRE(ends - openings == (task::is_terminal(state) ? 1 : 0));
    // Ordinals are assigned in order and never reused.
    for (const auto& [id, place] : applied.artifacts) {
      if (places.insert_or_assign(id, place).second) REQUIRE(place.ordinal >= before.artifact_count);
    }
    REQUIRE(places.size() == static_cast<std::size_t>(head.artifact_count));
  }
};

}  // namespace

TEST_CASE("apply: after any changes a task obeys the rules, and its head agrees with its log") {
  int taken = 0, refused = 0, ended = 0, reopened = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    AnyChange any(seed);
    Life life;
    for (int i = 0; i < 60; ++i) {
      Change made = any.draw(life.head);
      auto applied = task::apply(life.head, made, kNow, life.places);
      if (!applied) {
        ++refused;
        continue;
      }
      ++taken;
      life.take(made, std::move(*applied));
    }
    ended += life.ends;
    reopened += life.openings;
    const task::Task told = task::fold(life.log, {std::nullopt, true}, kNow);
    CHECK(told.status.state == life.head.state);
    CHECK(told.history.size() == static_cast<std::size_t>(life.head.message_count));
    std::size_t shown = 0;
    for (const auto& [id, place] : life.places) shown += !place.withdrawn;
    CHECK(told.artifacts.size() == shown);
  }
  // Enough of each, so that every rule was exercised.
  CHECK(taken > 1'000);
  CHECK(refused > 1'000);
  CHECK(ended > 300);
  CHECK(reopened > 50);
}

}  // namespace apply_test
