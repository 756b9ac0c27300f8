// Children's questions across restarts, cancels, deadlines and repeats, and children that outlive their
// parents.
#include <doctest/doctest.h>

#include <future>

#include "unit/engine/family.h"

namespace child_questions_ends_test {

using namespace family;

TEST_CASE("Delegation: a question survives a restart, as does an undelivered answer with its trace") {
  const std::string first = "00-4bf92f3577b34da6a3ce929d0e0e4736-",
                    other = "00-0af7651916cd43dd8448eb211c80319c-";
  for (const bool waits : {false, true}) {
    EngineBench bench(quick_to_stop());
    Family all(bench);
    const auto second = all.two_ask(waits);
    const std::string ask = head(bench, all.key).ask;
    const auto events = head(bench, all.key).last_event;
    bench.restart();
    CHECK(head(bench, all.key).turn_state == TurnState::waiting);
    CHECK(head(bench, all.key).ask == ask);
    bench.engine().settle();
    if (waits) CHECK(head(bench, all.key).last_event == events);
    // The program stops before the answer reaches the child.
    REQUIRE(answer(bench, "t1", "one", ask, first + "00f067aa0ba902b7-01"));
    bench.restart();
    const auto one = bench.helper().next();
    REQUIRE(one);
    CHECK(one->turn.task == all.child->turn.task);
    CHECK(task::text_of(one->turn.message) == "one");
    CHECK(one->turn.trace.starts_with(first));
    one->sink->finish(agents::Done{});
    await_question(bench, all.key, "second?");
    REQUIRE(answer(bench, "t1", "two", {}, other + "00f067aa0ba902b7-01"));
    const auto two = bench.helper().next();
    REQUIRE(two);
    CHECK(task::text_of(two->turn.message) == "two");
    CHECK(two->turn.trace.starts_with(other));
    two->sink->finish(agents::Done{});
    const auto next = bench.scripted().next();
    REQUIRE(next);
    CHECK(next->turn.results.size() == 2);
    CHECK(next->turn.trace.empty());  // its message had none
    next->sink->finish(agents::Done{});
    await_state(bench, all.key, State::completed);
    CHECK(bench.helper().waiting() == 0);
  }
}

TEST_CASE("Delegation: a parent that is canceled or ends cancels its asking child") {
  for (const bool ends : {false, true}) {
    EngineBench bench;
    Family all(bench, !ends);
    all.child->sink->finish(question("how?"));
    await_question(bench, all.key, "how?");
    const auto child = key_of(bench, all.child);
    if (ends) {
      all.parent->sink->finish(agents::Done{});
      await_state(bench, all.key, State::completed);
    } else {
      CHECK(bench.cancel({"t1"}));
    }
    await_state(bench, child, State::canceled);
    bench.engine().settle();
    CHECK(head(bench, all.key).state == (ends ? State::completed : State::canceled));
  }
}

TEST_CASE("Delegation: a turn's deadline is suspended while its task shows a child's question") {
  EngineBench::Options options;
  options.settings.turn_timeout = test::patience() / 60;
  EngineBench bench(options);
  Family all(bench);
  all.child->sink->finish(question("how?"));
  await_question(bench, all.key, "how?");
  // Meanwhile the deadline of another turn, which began later, passes.
  const auto other = bench.submit(EngineBench::message("hangs", "t2"));
  CHECK(bench.wait(other->key)->state == State::failed);
  CHECK(shown(bench, all.key) == "how?");
  REQUIRE(answer(bench, "t1", "so"));
  // The deadline is running again from here.
  const auto asked = head(bench, all.key).status_event;
  CHECK(bench.wait(all.key, asked.value)->state == State::failed);
}

TEST_CASE("Delegation: a repeated answer counts once") {
  EngineBench bench;
  Family all(bench);
  all.child->sink->finish(question("how?"));
  await_question(bench, all.key, "how?");
  auto message = EngineBench::message("so", "t1");
  message.message.id = {"m7"};
  const auto first = bench.submit(message);
  const auto second = bench.submit(message);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(second->repeated);
  CHECK(second->before == first->before);
  bench.helper().next()->sink->finish(agents::Done{});
  REQUIRE(bench.scripted().wait_for([&] { return all.parent->delivered.size() == 1; }));
  CHECK(bench.helper().waiting() == 0);
  all.parent->sink->finish(agents::Done{});
  await_state(bench, all.key, State::completed);
}

TEST_CASE("Delegation: a detached child is reported at once and outlives its parent") {
  for (const bool cancels : {false, true}) {
    EngineBench bench;
    const auto accepted = bench.submit(EngineBench::message("parent", "t1"));
    const auto parent = bench.scripted().next();
    auto request = call("d1");
    request.detached = true;
    parent->sink->delegate(request);
    const auto child = bench.helper().next();
    REQUIRE(child);
    REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
    REQUIRE(parent->delivered[0].task);
    CHECK(parent->delivered[0].task->id == child->turn.task);
    CHECK(parent->delivered[0].error.empty());
    const auto key = key_of(bench, child);
    CHECK(head(bench, key).parent == accepted->key);
    CHECK(head(bench, accepted->key).awaited == 0);
    if (cancels) {
      auto canceled = bench.cancel_later({"t1"});
      REQUIRE(bench.scripted().wait_for([&] { return parent->canceled; }));
      parent->sink->finish(agents::Canceled{});
      CHECK(canceled.get());
    } else {
      parent->sink->finish(agents::Done{});
      CHECK(bench.wait(accepted->key)->state == State::completed);
    }
    bench.restart();
    const auto again = bench.helper().next();
    REQUIRE(again);
    CHECK_FALSE(again->canceled);
    again->sink->finish(question("how?"));
    CHECK(bench.wait(key)->state == State::input_required);
  }
}

}  // namespace child_questions_ends_test
