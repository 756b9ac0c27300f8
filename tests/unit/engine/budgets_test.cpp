// Budgets of tasks: refusals, forced ends, and the budgets of children.
#include <doctest/doctest.h>

#include "unit/engine/family.h"

namespace budgets_test {

using namespace baton;
using namespace family;

namespace {

task::Submission with_budget(const task::Budget& budget, const std::string& id = "t1") {
  auto submission = EngineBench::message("work", id);
  submission.budget = std::make_shared<const task::Budget>(budget);
  return submission;
}

struct Held {
  explicit Held(const task::Budget& budget) {
    key = bench.submit(with_budget(budget))->key;
    parent = bench.scripted().next();
    REQUIRE(parent);
  }
  // Requests a child and returns the error.
  std::string refused(const std::string& id) {
    const std::size_t before = parent->delivered.size();
    parent->sink->delegate(call(id));
    REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() > before; }));
    CHECK_FALSE(parent->delivered.back().task);
    return parent->delivered.back().error;
  }
  Running begin(const std::string& id) {
    parent->sink->delegate(call(id));
    auto child = bench.helper().next();
    REQUIRE(child);
    return child;
  }
  std::string reason() {
    const auto ended = bench.wait(key);
    REQUIRE(ended);
    CHECK(ended->state == State::failed);
    return task::text_of(*bench.engine().reader().read(key, {})->status.message);
  }

  EngineBench bench;
  task::TaskKey key;
  Running parent;
};

bool names(const std::string& text, const std::string& limit) {
  return text.find(limit) != std::string::npos;
}

task::Usage usage(std::int64_t tokens) {
  return {task::Json{R"({"totalTokens":1})"}, tokens};
}

}  // namespace

TEST_CASE("Budgets: the number of children is bounded, whether requested at once or one by one") {
  task::Budget budget;
  budget.children = 2;
  Held held(budget);
  const auto one = held.begin("a");
  const auto two = held.begin("b");
  CHECK(names(held.refused("c"), "max_children"));
  CHECK(names(held.refused("a"), "max_children"));
  one->sink->finish(agents::Done{});
  CHECK(names(held.refused("d"), "max_children"));
}

TEST_CASE("Budgets: a request that makes no child uses nothing") {
  task::Budget budget;
  budget.children = 1;
  Held held(budget);
  held.parent->sink->delegate(call("x", "nobody"));
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  CHECK(held.parent->delivered.back().error == "agent not found: \"nobody\"");
  held.begin("a");
  CHECK(names(held.refused("b"), "max_children"));
}

TEST_CASE("Budgets: a turn that runs again gets its earlier children even if the budget is used up") {
  task::Budget budget;
  budget.children = 1;
  Held held(budget);
  const auto child = held.begin("a");
  child->sink->finish(agents::Done{});
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  held.bench.restart();
  held.parent = held.bench.scripted().next();
  REQUIRE(held.parent);
  held.parent->sink->delegate(call("a"));
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  CHECK(held.parent->delivered.back().error.empty());
  CHECK(names(held.refused("b"), "max_children"));
}

TEST_CASE("Budgets: a token's agents restrict delegation at every level, also after a restart") {
  Held held({});
  held.parent->sink->finish(agents::Done{});
  held.bench.wait(held.key);
  const auto bound = [](const std::string& text, const std::string& id) {
    auto submission = EngineBench::message(text, id);
    submission.child_agents =
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"helper"});
    return submission;
  };
  held.key = held.bench.submit(bound("work", "t2"))->key;
  held.parent = held.bench.scripted().next();
  const auto child = held.begin("a");
  child->sink->delegate(call("up", "scripted"));
  REQUIRE(held.bench.helper().wait_for([&] { return !child->delivered.empty(); }));
  CHECK(child->delivered.back().error == "the caller's token is not for the agent \"scripted\"");
  child->sink->finish(agents::Done{});
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  held.bench.restart();
  held.parent = held.bench.scripted().next();
  held.parent->sink->delegate(call("b", "scripted"));
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  CHECK(names(held.parent->delivered.back().error, "is not for the agent"));
}

TEST_CASE("Budgets: a message with a restricting token restricts the task from then on") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("work", "t1"));
  bench.scripted().next()->sink->finish(question("which?"));
  await_state(bench, accepted->key, State::input_required);
  auto message = EngineBench::message("this", "t1");
  message.child_agents =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"scripted"});
  REQUIRE(bench.submit(std::move(message)));
  const auto parent = bench.scripted().next();
  parent->sink->delegate(call("a"));
  REQUIRE(bench.scripted().wait_for([&] { return !parent->delivered.empty(); }));
  CHECK(names(parent->delivered.back().error, "is not for the agent \"helper\""));
}

TEST_CASE("Budgets: a child gets the rest of the budget, and the depth is bounded") {
  task::Budget budget;
  budget.children = 5;
  budget.depth = 1;
  budget.tokens = 100;
  Held held(budget);
  held.parent->sink->emit(usage(30));
  const auto child = held.begin("a");
  const auto kept = head(held.bench, key_of(held.bench, child)).budget;
  REQUIRE(kept);
  CHECK(kept->children == 4);
  CHECK(kept->depth == 0);
  CHECK(kept->tokens == 70);
  child->sink->delegate(call("deeper"));
  REQUIRE(held.bench.helper().wait_for([&] { return !child->delivered.empty(); }));
  CHECK(names(child->delivered.back().error, "max_depth"));
}

TEST_CASE("Budgets: a child that uses too much ends its parent, whether that runs or waits") {
  for (const bool waits : {false, true}) {
    task::Budget budget;
    budget.tokens = 100;
    Held held(budget);
    const auto child = held.begin("a");
    const auto other = held.begin("b");
    if (waits) {
      held.parent->sink->finish(agents::Waits{});
      while (head(held.bench, held.key).turn_state != TurnState::waiting) std::this_thread::yield();
    }
    child->sink->emit(usage(101));
    CHECK(names(held.reason(), "max_tokens"));
    await_state(held.bench, key_of(held.bench, other), State::canceled);
    CHECK(head(held.bench, held.key).tokens == 101);
  }
}

TEST_CASE("Budgets: once the tokens are used up no child begins, but the task may continue") {
  task::Budget budget;
  budget.tokens = 100;
  Held held(budget);
  held.parent->sink->emit(usage(100));
  CHECK(names(held.refused("a"), "max_tokens"));
  held.parent->sink->finish(agents::Done{});
  CHECK(held.bench.wait(held.key)->state == State::completed);
}

TEST_CASE("Budgets: an agent that reports too much usage is ended") {
  task::Budget budget;
  budget.tokens = 100;
  Held held(budget);
  held.parent->sink->emit(usage(101));
  held.parent->sink->finish(agents::Done{});
  CHECK(names(held.reason(), "max_tokens"));
}

TEST_CASE("Budgets: a task that takes too long ends with its children, whether it runs or waits") {
  for (const bool waits : {false, true}) {
    task::Budget budget;
    budget.wall = test::patience() / 60;
    Held held(budget);
    const auto child = held.begin("a");
    if (waits) held.parent->sink->finish(agents::Waits{});
    CHECK(names(held.reason(), "max_wall_s"));
    const auto child_key = key_of(held.bench, child);
    while (!task::is_terminal(head(held.bench, child_key).state)) std::this_thread::yield();
  }
}

TEST_CASE("Budgets: a waiting task is ended at its time limit also after a restart") {
  task::Budget budget;
  budget.wall = test::patience() / 60;
  Held held(budget);
  held.begin("a");
  held.parent->sink->finish(agents::Waits{});
  while (head(held.bench, held.key).turn_state != TurnState::waiting) std::this_thread::yield();
  held.bench.restart();
  CHECK(names(held.reason(), "max_wall_s"));
}

TEST_CASE("Budgets: only the send that creates a task may have a budget") {
  Held held({});
  task::Budget budget;
  budget.children = 1;
  const auto refused = held.bench.submit(with_budget(budget));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::invalid_argument);
  CHECK(names(refused.error().for_caller, "budget"));
}

TEST_CASE("Budgets: a reopened task has the full budget of the new send") {
  task::Budget budget;
  budget.children = 1;
  Held held(budget);
  held.begin("a")->sink->finish(agents::Done{});
  REQUIRE(held.bench.scripted().wait_for([&] { return !held.parent->delivered.empty(); }));
  held.parent->sink->finish(agents::Done{});
  REQUIRE(held.bench.wait(held.key)->state == State::completed);
  for (const bool is_bounded : {true, false}) {
    auto more = with_budget(budget);
    if (!is_bounded) more.budget = nullptr;
    more.when_ended = task::WhenEnded::reopen;
    REQUIRE(held.bench.submit(more));
    held.parent = held.bench.scripted().next();
    REQUIRE(held.parent);
    const auto first = held.begin("a");
    if (is_bounded) CHECK(names(held.refused("b"), "max_children"));
    if (!is_bounded) held.begin("b");
    held.parent->sink->finish(agents::Done{});
    while (head(held.bench, held.key).state != State::completed) std::this_thread::yield();
  }
}

TEST_CASE("Budgets: a task without a budget has only the server's limit on children") {
  EngineBench::Options options;
  options.engine.delegation_children_max = 1;
  EngineBench bench(options);
  Family family(bench);
  CHECK_FALSE(head(bench, family.key).budget);
  CHECK_FALSE(head(bench, key_of(bench, family.child)).budget);
  family.parent->sink->delegate(call("d2"));
  REQUIRE(bench.scripted().wait_for([&] { return !family.parent->delivered.empty(); }));
  CHECK(names(family.parent->delivered.back().error, "max_children"));
  while (head(bench, family.key).children == 0) std::this_thread::yield();
  family.child->sink->delegate(call("d3"));
  REQUIRE(bench.helper().wait_for([&] { return !family.child->delivered.empty(); }));
  CHECK(names(family.child->delivered.back().error, "max_children"));
}

}  // namespace budgets_test
