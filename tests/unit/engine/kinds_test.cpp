// Each kind of decision with a row and no threads: what it changes, and what it refuses.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

#include "agents/plan/plan.h"
#include "base/error_names.h"

#include "engine/decide/kinds/begin_schedule.h"
#include "engine/decide/kinds/begin_turn.h"
#include "engine/decide/kinds/cancel_request.h"
#include "engine/decide/kinds/end_lost_turn.h"
#include "engine/decide/kinds/note_retry.h"
#include "engine/decide/kinds/order_deliveries.h"
#include "engine/decide/kinds/push_config.h"
#include "engine/decide/kinds/recover.h"
#include "engine/decide/kinds/requeue.h"
#include "engine/decide/kinds/rerun_lost_turn.h"
#include "engine/decide/kinds/send.h"
#include "engine/decide/kinds/settle_child.h"
#include "engine/decide/kinds/show_question.h"
#include "engine/decide/kinds/turn_output.h"
#include "engine/decide/kinds/wake.h"
#include "support/manual_clock.h"
#include "support/scripted_executor.h"

namespace kinds_test {

using namespace baton;
using base::ErrorCode;
using task::State;
using task::TurnState;

namespace {

constexpr store::NodeId kSelf{1}, kOther{2};

agents::Catalogue one_agent() {
  std::vector<agents::Agent> all(1);
  all[0].name = {"known"};
  all[0].executor = std::make_unique<test::ScriptedExecutor>();
  return agents::Catalogue(std::move(all));
}

// The row of a task whose second turn is in `turn`.
store::TaskRow row(TurnState turn, State state = State::working) {
  store::TaskRow now;
  now.head.key = {7};
  now.head.id = {"t"};
  now.head.agent = {"known"};
  now.head.version = {5};
  now.head.state = state;
  now.head.turn = {2};
  now.head.attempt = turn == TurnState::running ? 1 : 0;
  now.head.turn_state = turn;
  now.head.turn_message = {3};
  now.head.last_event = {9};
  now.owner = kSelf;
  return now;
}

store::TaskRow elsewhere(store::TaskRow now) {
  now.owner = kOther;
  return now;
}

template <class Kind>
std::string refusal(Kind kind, const store::TaskRow& now) {
  const auto change = kind.decide(now);
  return change ? "none" : std::string(base::name_of(change.error().code));
}

State last_state(const task::Change& change) {
  return std::get<task::StatusChanged>(change.events.back()).status.state;
}

engine::ChildQuestion question(const std::string& ask) {
  engine::ChildQuestion one;
  one.ask = ask;
  one.child = {8};
  one.child_id = {"child"};
  one.about = {3};
  one.status.state = State::input_required;
  return one;
}

struct Bench {
  const agents::Catalogue catalogue = one_agent();
  test::ManualClock clock;
  engine::ChildQuestions questions;
};

}  // namespace

TEST_CASE("Kinds: a turn whose time has come is queued, once and by its own node") {
  store::TaskRow now = row(TurnState::waiting);
  now.head.waits.until = base::Timestamp();
  const engine::Wake wake{now.head.key, now.head.turn, kSelf};
  const auto change = wake.decide(now);
  REQUIRE(change);
  CHECK(change->turn->state == TurnState::queued);
  CHECK(change->expected == now.head.version);
  CHECK(refusal(wake, row(TurnState::queued)) == "not_found");
  CHECK(refusal(wake, row(TurnState::waiting)) == "not_found");  // for its children alone
  CHECK(refusal(wake, elsewhere(now)) == "not_found");
  CHECK(refusal(engine::Wake{now.head.key, {1}, kSelf}, now) == "not_found");
  CHECK(engine::Wake{now.head.key, now.head.turn, {}}.decide(elsewhere(now)));  // the store is not shared
}

TEST_CASE("Kinds: a queued turn begins as the next attempt, and a child's question stays") {
  Bench bench;
  const engine::BeginTurn begin{{7}, kSelf, bench.catalogue, bench.clock};
  const auto change = begin.decide(row(TurnState::queued, State::submitted));
  REQUIRE(change);
  CHECK(change->turn->state == TurnState::running);
  CHECK(change->turn->attempt == 1);
  CHECK(last_state(*change) == State::working);
  const auto asking = begin.decide(row(TurnState::queued, State::input_required));
  REQUIRE(asking);
  CHECK(asking->events.empty());
  CHECK(refusal(begin, row(TurnState::running)) == "not_found");
  CHECK(refusal(begin, elsewhere(row(TurnState::queued))) == "not_found");
}

TEST_CASE("Kinds: a task whose agent is gone ends when its turn would begin") {
  Bench bench;
  store::TaskRow now = row(TurnState::queued, State::submitted);
  now.head.agent = {"gone"};
  const auto change = engine::BeginTurn{{7}, kSelf, bench.catalogue, bench.clock}.decide(now);
  REQUIRE(change);
  CHECK(last_state(*change) == State::failed);
  CHECK(change->turn->state == TurnState::none);
}

TEST_CASE("Kinds: a child's end is logged by a parent that waits for it") {
  Bench bench;
  const task::Subagent end{"s", "helper", task::Subagent::Phase::finished, {}};
  const engine::SettleChild settle{{7}, {3}, end, kSelf, bench.questions, bench.clock};
  store::TaskRow now = row(TurnState::waiting);
  now.head.awaited = 1;
  const auto change = settle.decide(now);
  REQUIRE(change);
  REQUIRE(change->events.size() == 1);
  CHECK(std::get<task::Subagent>(change->events[0]).id == "s");
  CHECK(change->turn);
  CHECK(refusal(settle, row(TurnState::running)) == "conflict");  // too early
  CHECK(refusal(settle, row(TurnState::waiting)) == "not_found");
  CHECK(refusal(settle, elsewhere(now)) == "not_found");
  now.head.turn_message = {6};
  CHECK(refusal(settle, now) == "not_found");
  now = row(TurnState::running);
  now.head.turn_message = {6};
  CHECK(refusal(settle, now) == "not_found");
}

TEST_CASE("Kinds: a task that waits shows its child's question, and withdraws one that is over") {
  Bench bench;
  const engine::ShowQuestion show{{7}, kSelf, bench.questions, bench.clock};
  CHECK(refusal(show, row(TurnState::waiting)) == "not_found");
  const auto withdrawn = show.decide(row(TurnState::waiting, State::input_required));
  REQUIRE(withdrawn);
  CHECK(last_state(*withdrawn) == State::working);
  bench.questions.add({7}, question("s.4"));
  const auto shown = show.decide(row(TurnState::waiting));
  REQUIRE(shown);
  CHECK(last_state(*shown) == State::input_required);
  CHECK(*shown->turn->ask == "s.4");
  CHECK(refusal(show, row(TurnState::running)) == "conflict");
  CHECK(refusal(show, elsewhere(row(TurnState::waiting))) == "not_found");
}

TEST_CASE("Kinds: a cancel ends a task at once, or is requested from its running turn") {
  Bench bench;
  const engine::CancelRequest request{{7}, "why", nullptr, kSelf, bench.catalogue, bench.clock};
  engine::CancelRequest ends = request;
  const auto ended = ends.decide(row(TurnState::queued, State::submitted));
  REQUIRE(ended);
  CHECK(last_state(*ended) == State::canceled);
  CHECK(ended->turn->state == TurnState::none);
  CHECK(ends.had_turn);
  engine::CancelRequest tells = request;
  const auto told = tells.decide(row(TurnState::running));
  REQUIRE(told);
  CHECK(told->events.empty());
  CHECK(told->turn->cancel_requested == true);
  CHECK(!tells.had_turn);
  CHECK(refusal(request, row(TurnState::none, State::completed)) == "not_cancelable");
  store::TaskRow twice = row(TurnState::running);
  twice.head.cancel_requested = true;
  engine::CancelRequest repeats = request;
  CHECK(!repeats.decide(twice));
  CHECK(repeats.is_known);
  CHECK(repeats.since == twice.head.last_event);
}

TEST_CASE(
    "Kinds: a canceled plan that is older than its agent's card undoes first, because its own text counts") {
  std::vector<agents::Agent> all(1);
  all[0].name = {"known"};
  all[0].settings.plan = std::make_shared<agents::Plan>();  // has nothing to undo
  all[0].read_at = base::from_ms(100'900);
  all[0].executor = std::make_unique<test::ScriptedExecutor>();
  const agents::Catalogue catalogue(std::move(all));
  const test::ManualClock clock;
  for (const bool is_older : {true, false}) {
    CAPTURE(is_older);
    store::TaskRow now = row(TurnState::waiting);
    now.head.created = base::from_ms(is_older ? 100'899 : 100'900);
    engine::CancelRequest request{{7}, "", nullptr, kSelf, catalogue, clock};
    const auto change = request.decide(now);
    REQUIRE(change);
    CHECK(request.undoes == is_older);
    CHECK(change->turn->cancel_requested == true);
    CHECK(change->turn->state == (is_older ? TurnState::queued : TurnState::none));
  }
}

TEST_CASE("Kinds: a lost turn is ended or run again only while it is the running one") {
  Bench bench;
  const engine::EndLostTurn end{{7}, {2}, 1, "", kSelf, bench.clock};
  const engine::RerunLostTurn rerun{{7}, {2}, 1, {{"t-r2.1"}}};
  const auto ended = end.decide(row(TurnState::running));
  REQUIRE(ended);
  CHECK(last_state(*ended) == State::canceled);
  const auto again = rerun.decide(row(TurnState::running));
  REQUIRE(again);
  CHECK(std::get<task::Withdrawn>(again->events.at(0)).artifacts.size() == 1);
  CHECK(again->turn->state == TurnState::waiting);
  store::TaskRow later = row(TurnState::running);
  later.head.attempt = 2;
  CHECK(refusal(end, later) == "conflict");
  CHECK(refusal(rerun, later) == "conflict");
  CHECK(refusal(end, row(TurnState::queued)) == "conflict");
  CHECK(refusal(end, elsewhere(row(TurnState::running))) == "conflict");
}

TEST_CASE("Kinds: an operator requeues a turn that runs or waits for a time") {
  Bench bench;
  task::AuditEntry entry;
  entry.action = "requeue";
  engine::Requeue requeue{{7}, entry, kSelf, bench.catalogue};
  store::TaskRow timed = row(TurnState::waiting);
  timed.head.waits.until = base::Timestamp();
  const auto queued = requeue.decide(timed);
  REQUIRE(queued);
  CHECK(queued->turn->state == TurnState::queued);
  CHECK(queued->audit->action == "requeue");
  CHECK(!requeue.is_elsewhere);
  const auto running = requeue.decide(elsewhere(row(TurnState::running)));
  REQUIRE(running);
  CHECK(!running->turn->state);
  CHECK(requeue.is_elsewhere);
  CHECK(refusal(requeue, row(TurnState::waiting)) == "conflict");
  CHECK(refusal(requeue, row(TurnState::none)) == "conflict");
  timed.head.agent = {"gone"};
  CHECK(refusal(requeue, timed) == "conflict");
}

TEST_CASE("Kinds: an operator's action is logged in the change that it makes") {
  task::AuditEntry entry;
  entry.actor = "ann";
  entry.action = "resend";
  const auto ordered =
      engine::OrderDeliveries{{7}, entry, {task::DeliveryOrder::Kind::skip, 4}}.decide(row(TurnState::none));
  REQUIRE(ordered);
  CHECK(ordered->deliveries->delivery == 4);
  CHECK(std::get<task::Intervention>(ordered->events.at(0)).actor == "ann");
  const auto noted = engine::NoteRetry{{7}, entry, {12}}.decide(row(TurnState::none));
  REQUIRE(noted);
  CHECK(!noted->audit);
  CHECK(std::get<task::Intervention>(noted->events.at(0)).detail == "12");
}

TEST_CASE(
    "Kinds: webhooks are set and removed, a schedule is marked, and a recovery keeps out of a running turn") {
  Bench bench;
  const auto set = engine::SetPush{{7}, {}, 3}.decide(row(TurnState::none));
  REQUIRE(set);
  CHECK(set->push);
  CHECK(set->push_configs_max == 3);
  const auto dropped = engine::DropPush{{7}, {"p"}}.decide(row(TurnState::none));
  REQUIRE(dropped);
  CHECK(dropped->drop_push->value == "p");
  const auto begun = engine::BeginSchedule{{{}, {"known"}, {"mark"}}, bench.clock}.decide({});
  REQUIRE(begun);
  CHECK(begun->create->hidden);
  CHECK(begun->create->id.value == "mark");
  bool runs = false;
  const std::function<bool(task::TaskKey)> runs_here = [&](task::TaskKey) { return runs; };
  const engine::Recover recover{{7}, {}, runs_here};
  CHECK(recover.decide(row(TurnState::running)));
  runs = true;
  CHECK(refusal(recover, row(TurnState::running)) == "not_found");
}

TEST_CASE("Kinds: a turn's output is fenced, and refused once another attempt runs") {
  engine::PendingOutput pending("t", 2, 1000);
  std::vector<task::Subagent> childless;
  engine::TurnOutput output{{7}, {2}, 1, pending, childless};
  pending.add_text("hello");
  const auto goes_on = output.decide(row(TurnState::running));
  REQUIRE(goes_on);
  CHECK(goes_on->fence->attempt == 1);
  CHECK(!goes_on->expected);
  CHECK(goes_on->events.size() == 1);
  store::TaskRow later = row(TurnState::running);
  later.head.attempt = 2;
  CHECK(!output.decide(later));
  CHECK(output.is_lost);
  pending.put_back();
  const agents::Outcome done = agents::Done{};
  output.outcome = &done;
  const auto ends = output.decide(row(TurnState::running));
  REQUIRE(ends);
  CHECK(last_state(*ends) == State::completed);
  CHECK(ends->expected == task::Version{5});
  output.is_over = true;
  CHECK(!output.decide(row(TurnState::running)));
}

TEST_CASE(
    "Kinds: a waiting turn that has used up its tokens waits for nothing, and logs requests without a "
    "child") {
  engine::PendingOutput pending("t", 2, 1000);
  std::vector<task::Subagent> childless(1);
  childless[0].id = "t-d2.1";
  childless[0].error = "no";
  const agents::Outcome waits = agents::Waits{};
  engine::TurnOutput output{{7}, {2}, 1, pending, childless, &waits};
  output.is_used_up = true;
  const auto change = output.decide(row(TurnState::running));
  REQUIRE(change);
  CHECK(change->turn->state == TurnState::waiting);
  CHECK(change->turn->waits.open_max > 1'000'000);
  CHECK(change->events.size() == 2);
  CHECK(childless.empty());
}

TEST_CASE("Kinds: a canceled wait that is decided again logs each end once") {
  engine::PendingOutput pending("t", 2, 1000);
  task::Subagent open{"open", "helper", task::Subagent::Phase::started, {}};
  pending.add(open, {});
  std::vector<task::Subagent> childless(1);
  childless[0].id = "t-d2.1";
  childless[0].error = "no";
  const agents::Outcome waits = agents::Waits{};
  engine::TurnOutput output{{7}, {2}, 1, pending, childless, &waits};
  output.cancel_requested = true;
  const auto subagents = [&] {
    const auto change = output.decide(row(TurnState::running));
    REQUIRE(change);
    std::multiset<std::pair<std::string, task::Subagent::Phase>> found;
    for (const task::EventBody& body : change->events) {
      if (const auto* one = std::get_if<task::Subagent>(&body)) found.emplace(one->id, one->phase);
    }
    return found;
  };
  const auto first = subagents();
  CHECK(first.size() == 4);
  pending.put_back();
  CHECK(subagents() == first);
}

TEST_CASE("Kinds: a send takes a slot or a place in the queue, and gives it back if it is decided again") {
  Bench bench;
  engine::EngineOptions options;
  engine::Scheduler scheduler(1, 1, {}, [](task::TaskKey, const task::AgentName&) {});
  base::EventLoop timers("unused");
  const engine::Wakes wakes(timers, bench.clock, 10, [](task::TaskKey, task::TurnNumber) {});
  const engine::SendRules rules{bench.catalogue, options,         bench.clock, scheduler,
                                wakes,           bench.questions, kSelf};
  const auto make = [&] {
    task::Submission submission;
    submission.agent = {"known"};
    submission.message.id = {"m"};
    submission.message.parts.push_back(task::Part::of_text("hi"));
    engine::Send send(rules, std::move(submission));
    send.room_request.agent = {"known"};
    return send;
  };
  engine::Send first = make(), second = make(), third = make();
  const auto begins = first.decide({});
  REQUIRE(begins);
  CHECK(first.decide({}));  // it had the only slot
  CHECK(first.room == engine::Scheduler::Room::slot);
  CHECK(begins->turn->state == TurnState::running);
  CHECK(last_state(*begins) == State::working);
  const auto waits = second.decide({});
  REQUIRE(waits);
  CHECK(waits->turn->state == TurnState::queued);
  CHECK(refusal(third, {}) == "overloaded");
  second.give_back();
  CHECK(third.decide({}));
  // A message to a task that works waits for its turn's end.
  engine::Send more = make();
  const auto added = more.decide(row(TurnState::running));
  CHECK(more.came_late);  // it was meant for a task that waits
  CHECK(!added);
  more.submission.task = {"t"};
  const auto named = more.decide(row(TurnState::running));
  REQUIRE(named);
  CHECK(named->turn->waiting_messages == 1);
  CHECK(more.room == engine::Scheduler::Room::none);
}

TEST_CASE("Kinds: an answer is given back if it was not stored") {
  Bench bench;
  engine::EngineOptions options;
  engine::Scheduler scheduler(1, 1, {}, [](task::TaskKey, const task::AgentName&) {});
  base::EventLoop timers("unused");
  const engine::Wakes wakes(timers, bench.clock, 10, [](task::TaskKey, task::TurnNumber) {});
  const engine::SendRules rules{bench.catalogue, options,         bench.clock, scheduler,
                                wakes,           bench.questions, kSelf};
  bench.questions.add({7}, question("s.4"));
  store::TaskRow now = row(TurnState::waiting, State::input_required);
  now.head.ask = "s.4";
  now.head.status_event = {9};
  task::Submission submission;
  submission.agent = {"known"};
  submission.task = {"t"};
  engine::Send send(rules, std::move(submission));
  CHECK(!send.decide(now));
  CHECK(send.must_fit);  // nobody has checked it against the question's schema
  send.fitted = {9};
  const auto change = send.decide(now);
  REQUIRE(change);
  CHECK(send.answers);
  CHECK(std::get<task::Subagent>(change->events.at(1)).phase == task::Subagent::Phase::passed);
  send.give_back();
  CHECK(bench.questions.answer({7}, "s.4"));
}

}  // namespace kinds_test
