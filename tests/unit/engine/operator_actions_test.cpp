// Operators' actions on tasks and agents, on an engine with scripted agents.
#include <doctest/doctest.h>

#include <future>

#include "support/engine_bench.h"

namespace operator_actions_test {

using namespace baton;
using base::ErrorCode;
using task::State;
using task::TurnState;
using test::EngineBench;

namespace {

const engine::Actor kOlga{"olga", "because"};

using Outcome = base::Result<task::TaskHead>;

template <class Start>
Outcome outcome_of(Start&& start) {
  std::promise<Outcome> promise;
  start([&](Outcome outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

Outcome cancel(EngineBench& bench, task::TaskKey key, const engine::Actor& actor = kOlga) {
  return outcome_of([&](auto done) { bench.engine().operator_actions().cancel(key, actor, done); });
}
Outcome retry(EngineBench& bench, task::TaskKey key, std::optional<task::Message> edited = {}) {
  return outcome_of([&](auto done) { bench.engine().operator_actions().retry(key, edited, kOlga, done); });
}
Outcome answer(EngineBench& bench, task::TaskKey key, const std::string& text) {
  return outcome_of([&](auto done) {
    bench.engine().operator_actions().answer(key, EngineBench::message(text).message, {}, kOlga, done);
  });
}
Outcome requeue(EngineBench& bench, task::TaskKey key) {
  return outcome_of([&](auto done) { bench.engine().operator_actions().requeue(key, kOlga, done); });
}
void set_paused(EngineBench& bench, const std::string& agent, bool paused) {
  std::promise<base::Result<void>> promise;
  const auto done = [&](base::Result<void> result) { promise.set_value(std::move(result)); };
  auto& actions = bench.engine().operator_actions();
  paused ? actions.pause({agent}, kOlga, done) : actions.resume({agent}, kOlga, done);
  REQUIRE(promise.get_future().get());
}

base::Result<void> scale(EngineBench& bench, engine::OperatorActions::Scale scale) {
  std::promise<base::Result<void>> promise;
  bench.engine().operator_actions().scale(
      {"scripted"}, scale, kOlga, [&](base::Result<void> result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

task::TaskKey submitted(EngineBench& bench, const std::string& text = "work") {
  const auto accepted = bench.submit(EngineBench::message(text));
  REQUIRE(accepted);
  return accepted->key;
}

std::vector<task::Intervention> interventions(EngineBench& bench, task::TaskKey key) {
  std::vector<task::Intervention> found;
  for (const task::Event& event : bench.log(key)) {
    if (const auto* one = std::get_if<task::Intervention>(&event.body)) found.push_back(*one);
  }
  return found;
}

std::vector<store::AuditLine> audit(EngineBench& bench) {
  return bench.store().audit({}, 0, 100)->lines;
}

}  // namespace

TEST_CASE("OperatorActions: a cancel is in the audit and in the log, with operator and reason") {
  EngineBench bench;
  const auto key = submitted(bench);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  const auto canceled = cancel(bench, key);
  REQUIRE(canceled);
  CHECK(canceled->cancel_requested);
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  turn->sink->finish(agents::Canceled{});
  CHECK(bench.wait(key)->state == State::canceled);
  const auto noted = interventions(bench, key);
  REQUIRE(noted.size() == 1);
  CHECK(noted[0].actor == "olga");
  CHECK(noted[0].action == "cancel");
  CHECK(noted[0].reason == "because");
  const auto lines = audit(bench);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].entry.task == key);
  CHECK(lines[0].entry.outcome == task::kDone);
}

TEST_CASE("OperatorActions: a refused action leaves a row with the error, and no event") {
  EngineBench bench;
  const auto key = submitted(bench);
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(key));
  CHECK(cancel(bench, key).error().code == ErrorCode::not_cancelable);
  CHECK(requeue(bench, key).error().code == ErrorCode::conflict);
  CHECK(answer(bench, key, "yes").error().code == ErrorCode::conflict);
  CHECK(cancel(bench, {77}).error().code == ErrorCode::task_not_found);
  CHECK(interventions(bench, key).empty());
  const auto lines = audit(bench);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].entry.outcome == "task_not_found");
  CHECK(lines[3].entry.outcome == "not_cancelable");
  CHECK(lines[3].entry.task == key);
}

TEST_CASE("OperatorActions: without a name or a reason nothing is done and nothing written") {
  EngineBench bench;
  const auto key = submitted(bench);
  for (const engine::Actor& actor : {engine::Actor{"", "because"}, engine::Actor{"olga", ""},
                                     engine::Actor{"olga", std::string(501, 'x')}}) {
    CHECK(cancel(bench, key, actor).error().code == ErrorCode::invalid_argument);
  }
  CHECK(audit(bench).empty());
  CHECK(!bench.engine().reader().head(key)->cancel_requested);
}

TEST_CASE("OperatorActions: each retry makes a new task with the same message") {
  EngineBench bench;
  const auto key = submitted(bench, "make it");
  bench.scripted().next()->sink->finish(agents::Failed{"broken"});
  REQUIRE(bench.wait(key)->state == State::failed);
  for (int i = 1; i <= 2; ++i) {
    const auto made = retry(bench, key);
    REQUIRE(made);
    CHECK(made->key != key);
    CHECK(made->caller == task::kAnonymous);
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(task::text_of(turn->turn.message) == "make it");
    turn->sink->finish(agents::Done{});
    CHECK(bench.wait(made->key)->state == State::completed);
    bench.engine().settle();
    REQUIRE(interventions(bench, made->key).size() == 1);
    CHECK(interventions(bench, made->key)[0].detail == std::to_string(key.value));
    REQUIRE(interventions(bench, key).size() == static_cast<std::size_t>(i));
    CHECK(interventions(bench, key).back().detail == std::to_string(made->key.value));
    const auto entry = audit(bench).front().entry;
    CHECK(entry.task == key);
    CHECK(entry.detail == std::to_string(made->key.value));
  }
  CHECK(bench.engine().reader().head(key)->state == State::failed);
}

TEST_CASE("OperatorActions: a retry may have another message") {
  EngineBench bench;
  const auto key = submitted(bench, "make it");
  bench.scripted().next()->sink->finish(agents::Failed{"broken"});
  REQUIRE(bench.wait(key));
  REQUIRE(retry(bench, key, EngineBench::message("make it well").message));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "make it well");
  turn->sink->finish(agents::Done{});
}

TEST_CASE("OperatorActions: a retry after a question sends the whole request, not the answer") {
  EngineBench bench;
  auto request = EngineBench::message("deploy", "t1");
  request.message.parts.push_back(task::Part::of_data({R"({"replicas":3})"}));
  request.message.metadata.text = R"({"step":"a"})";
  request.metadata.text = R"({"ticket":7})";
  request.state.text = R"({"open":true})";
  const auto accepted = bench.submit(request);
  REQUIRE(accepted);
  agents::Asked question;
  question.id = "q1";
  question.message = EngineBench::message("really?").message;
  bench.scripted().next()->sink->finish(std::move(question));
  REQUIRE(bench.wait(accepted->key)->state == State::input_required);
  REQUIRE(answer(bench, accepted->key, "yes"));
  bench.scripted().next()->sink->finish(agents::Failed{"broken"});
  const auto end = bench.wait(accepted->key, bench.log(accepted->key).back().number.value - 1);
  REQUIRE(end->state == State::failed);

  REQUIRE(retry(bench, accepted->key));
  const auto again = bench.scripted().next();
  REQUIRE(again);
  CHECK(again->turn.message.parts == request.message.parts);
  CHECK(again->turn.message.metadata.text == request.message.metadata.text);
  CHECK(again->turn.metadata.text == request.metadata.text);
  CHECK(again->turn.client_state.text == request.state.text);
  again->sink->finish(agents::Done{});

  // A message that reopens the task counts as the request from then on.
  REQUIRE(bench.submit(EngineBench::message("undo it", "t1")));
  bench.scripted().next()->sink->finish(agents::Failed{"broken again"});
  REQUIRE(bench.wait(accepted->key, end->number.value)->state == State::failed);
  REQUIRE(retry(bench, accepted->key));
  const auto reopened = bench.scripted().next();
  REQUIRE(reopened);
  CHECK(task::text_of(reopened->turn.message) == "undo it");
  reopened->sink->finish(agents::Done{});
}

TEST_CASE("OperatorActions: a retry has the same time limit as the first task, even if that has passed") {
  EngineBench bench;
  auto submission = EngineBench::message("work");
  task::Budget budget;
  budget.wall = std::chrono::milliseconds(100);
  budget.tokens = 1000;
  submission.budget = std::make_shared<const task::Budget>(budget);
  const auto accepted = bench.submit(submission);
  REQUIRE(accepted);
  REQUIRE(bench.wait(accepted->key));
  const auto made = retry(bench, accepted->key);
  REQUIRE(made);
  REQUIRE(made->budget);
  CHECK(made->budget->tokens == 1000);
  REQUIRE(made->budget->until);
  CHECK(*made->budget->until > *bench.engine().reader().head(accepted->key)->budget->until);
}

TEST_CASE("OperatorActions: an answer goes to the question that the task asks, once") {
  EngineBench bench;
  const auto key = submitted(bench);
  agents::Asked question;
  question.id = "q1";
  question.message = EngineBench::message("which?").message;
  bench.scripted().next()->sink->finish(std::move(question));
  REQUIRE(bench.wait(key)->state == State::input_required);
  REQUIRE(answer(bench, key, "this one"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "this one");
  CHECK(turn->turn.resume_ask == "q1");
  CHECK(answer(bench, key, "that one").error().code == ErrorCode::conflict);
  turn->sink->finish(agents::Done{});
  REQUIRE(interventions(bench, key).size() == 1);
  CHECK(interventions(bench, key)[0].action == "answer");
}

TEST_CASE("OperatorActions: requeuing a running turn breaks it off and runs a new attempt") {
  EngineBench bench;
  const auto key = submitted(bench);
  const auto first = bench.scripted().next();
  REQUIRE(first);
  first->sink->text("half a reply");
  REQUIRE(requeue(bench, key));
  const auto second = bench.scripted().next();
  REQUIRE(second);
  CHECK(bench.scripted().wait_for([&] { return first->let_go; }));
  CHECK(second->turn.attempt == 2);
  CHECK(task::text_of(second->turn.message) == "work");
  first->sink->finish(agents::Failed{"too late"});
  second->sink->text("whole");
  second->sink->finish(agents::Done{});
  CHECK(bench.wait(key)->state == State::completed);
  const auto task = bench.engine().reader().read(key, {std::nullopt, true});
  REQUIRE(task);
  REQUIRE(task->artifacts.size() == 1);
  CHECK(task::text_of(task->artifacts[0].parts) == "whole");
  CHECK(bench.engine().counts().turns.running == 0);
}

TEST_CASE("OperatorActions: requeuing a task that waits for its start time begins it") {
  EngineBench bench;
  auto submission = EngineBench::message("work");
  submission.start_at = base::SystemClock().now() + std::chrono::hours(1);
  const auto accepted = bench.submit(submission);
  REQUIRE(accepted);
  REQUIRE(requeue(bench, accepted->key));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
  CHECK(bench.engine().counts().waiting_for_time == 0);
}

TEST_CASE("OperatorActions: requeuing a queued turn still runs it once") {
  EngineBench bench;
  set_paused(bench, "scripted", true);
  const auto key = submitted(bench);
  REQUIRE(requeue(bench, key));
  CHECK(bench.engine().counts().turns.queued == 1);
  set_paused(bench, "scripted", false);
  bench.scripted().next()->sink->finish(agents::Done{});
  CHECK(bench.wait(key)->state == State::completed);
  CHECK(bench.engine().counts().turns.queued == 0);
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE(
    "OperatorActions: a paused agent begins no turn, also after restarts, and its running turns continue") {
  EngineBench::Options options;
  options.engine.slots = 1;  // the paused turns leave it to others
  EngineBench bench(options);
  const auto before = submitted(bench, "before");
  const auto running = bench.scripted().next();
  set_paused(bench, "scripted", true);
  running->sink->finish(agents::Done{});
  CHECK(bench.wait(before)->state == State::completed);
  const auto key = submitted(bench);
  auto elsewhere = EngineBench::message("for the helper");
  elsewhere.agent = {"helper"};
  REQUIRE(bench.submit(elsewhere));
  bench.helper().next()->sink->finish(agents::Done{});
  CHECK(bench.engine().counts().turns.queued == 1);
  bench.restart();
  bench.engine().settle();
  CHECK(bench.scripted().waiting() == 0);
  CHECK(bench.engine().counts().turns.queued == 1);
  CHECK(bench.store().agent_controls()->at(0).paused);
  set_paused(bench, "scripted", false);
  bench.scripted().next()->sink->finish(agents::Done{});
  CHECK(bench.wait(key)->state == State::completed);
  CHECK(audit(bench).size() == 2);
}

TEST_CASE("OperatorActions: an agent that was paused here and resumed at another node meanwhile is resumed") {
  EngineBench bench;
  set_paused(bench, "scripted", false);  // so that the row is known and remains the same
  bench.engine().operator_actions().look();
  set_paused(bench, "scripted", true);
  bench.engine().settle();  // the engine's thread is idle, so the other node may use the store
  REQUIRE(bench.store().write(store::AgentControl{{"scripted"}, false, "olga", "because", {}}));
  REQUIRE(bench.store().commit());
  bench.engine().operator_actions().look();
  submitted(bench);
  CHECK(bench.scripted().next());
}

TEST_CASE("OperatorActions: a scaled agent runs that many turns, also after restarts, until it is reset") {
  EngineBench::Options options;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  for (int i = 0; i < 3; ++i) submitted(bench);
  CHECK(bench.engine().counts().turns.running == 1);
  REQUIRE(scale(bench, {{}, 2}));
  CHECK(bench.engine().counts().turns.running == 2);
  const auto first = bench.scripted().next(), second = bench.scripted().next();
  REQUIRE(second);
  REQUIRE(scale(bench, {{}, 1}));
  CHECK(!second->canceled);
  first->sink->finish(agents::Done{});
  second->sink->finish(agents::Done{});
  const auto third = bench.scripted().next();
  REQUIRE(third);
  third->sink->finish(agents::Done{});
  REQUIRE(scale(bench, {{}, 2}));
  set_paused(bench, "scripted", true);
  for (int i = 0; i < 3; ++i) submitted(bench);
  bench.restart();
  CHECK(bench.store().agent_controls()->at(0).concurrency == 2);
  set_paused(bench, "scripted", false);
  CHECK(bench.engine().counts().turns.running == 2);
  REQUIRE(scale(bench, {{}, 0}));
  CHECK(bench.store().agent_controls()->at(0).concurrency == 0);
  const auto entry = audit(bench).front().entry;
  CHECK(entry.action == "scale");
  CHECK(entry.detail == "concurrency as in the card");
}

TEST_CASE("OperatorActions: scaling that is not possible is refused and changes nothing") {
  EngineBench bench;
  CHECK(scale(bench, {}).error().code == ErrorCode::invalid_argument);
  CHECK(scale(bench, {257, {}}).error().code == ErrorCode::invalid_argument);
  CHECK(scale(bench, {{}, -1}).error().code == ErrorCode::invalid_argument);
  CHECK(audit(bench).empty());
  CHECK(scale(bench, {2, 5}).error().code == ErrorCode::conflict);  // the agent has no worker processes
  REQUIRE(audit(bench).size() == 1);
  CHECK(audit(bench).front().entry.outcome == "conflict");
  CHECK(bench.store().agent_controls()->empty());
}

TEST_CASE("OperatorActions: a paused agent's turns use at most half of the queue") {
  EngineBench::Options options;
  options.engine.queue_max = 4;
  EngineBench bench(options);
  set_paused(bench, "scripted", true);
  for (int i = 0; i < 2; ++i) submitted(bench);
  CHECK(bench.submit(EngineBench::message("work")).error().code == ErrorCode::overloaded);
}

}  // namespace operator_actions_test
