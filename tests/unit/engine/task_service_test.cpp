#include "engine/sends/task_service.h"

#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "support/engine_bench.h"

namespace task_service_test {

using namespace baton;
using base::ErrorCode;
using task::State;
using test::EngineBench;

namespace {

// The states that the task has been in, in order.
std::vector<State> states_of(const std::vector<task::Event>& log) {
  std::vector<State> states;
  for (const task::Event& event : log) {
    if (const auto* status = task::status_in(event)) states.push_back(status->status.state);
  }
  return states;
}

bool is_consecutive(const std::vector<task::Event>& log) {
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].number.value != static_cast<std::int64_t>(i) + 1) return false;
  }
  return true;
}

agents::Asked asking(const std::string& question) {
  task::Message message;
  message.parts.push_back(task::Part::of_text(question));
  return {"ask-1", false, std::move(message)};
}

}  // namespace

TEST_CASE("TaskService: a task goes from its message to its end") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("hello", "t1"));
  REQUIRE(accepted);
  CHECK(accepted->before.value == 0);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(task::text_of(turn->turn.message) == "hello");
  CHECK(turn->turn.attempt == 1);
  turn->sink->text("he");
  turn->sink->text("llo");
  turn->sink->finish(agents::Done{});
  const auto stop = bench.wait(accepted->key);
  REQUIRE(stop);
  CHECK(stop->state == State::completed);
  const auto log = bench.log(accepted->key);
  CHECK(is_consecutive(log));
  CHECK(states_of(log) == std::vector{State::submitted, State::working, State::completed});
  const auto task = bench.engine().reader().read(accepted->key, {10, true});
  REQUIRE(task);
  REQUIRE(task->artifacts.size() == 1);
  CHECK(task->artifacts[0].parts.size() == 1);
  CHECK(task->artifacts[0].parts[0].content == "hello");
  CHECK(task->history.size() == 1);
  CHECK(bench.scripted().wait_for([&] { return turn->let_go; }));
}

TEST_CASE("TaskService: output of the executor after its end is ignored") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->finish(agents::Done{});
  turn->sink->text("late");
  turn->sink->finish(agents::Failed{"late"});
  REQUIRE(bench.wait(accepted->key)->state == State::completed);
  turn->sink->text("later");
  const auto log = bench.log(accepted->key);
  CHECK(states_of(log).back() == State::completed);
  CHECK(task::status_in(log.back()));
}

TEST_CASE("TaskService: an ask pauses the task and the answer resumes it") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("buy a phone", "t1"));
  const auto first = bench.scripted().next();
  REQUIRE(first);
  first->sink->finish(asking("which?"));
  const auto stop = bench.wait(accepted->key);
  REQUIRE(stop->state == State::input_required);
  const auto answer = bench.submit(EngineBench::message("Android", "t1"));
  REQUIRE(answer);
  CHECK(answer->key == accepted->key);
  CHECK(answer->before == stop->number);
  const auto second = bench.scripted().next();
  REQUIRE(second);
  CHECK(second->turn.resume_ask == "ask-1");
  CHECK(task::text_of(second->turn.message) == "Android");
  REQUIRE(second->turn.history.size() == 2);
  CHECK(task::text_of(second->turn.history[0]) == "buy a phone");
  CHECK(task::text_of(second->turn.history[1]) == "which?");
  second->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key, stop->number.value)->state == State::completed);
  CHECK(is_consecutive(bench.log(accepted->key)));
}

TEST_CASE("TaskService: a message to a running task waits for the turn's end and gets its own turn") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("one", "t1"));
  const auto first = bench.scripted().next();
  REQUIRE(first);
  REQUIRE(bench.submit(EngineBench::message("two", "t1")));
  REQUIRE(bench.submit(EngineBench::message("three", "t1")));
  CHECK(bench.scripted().waiting() == 0);
  first->sink->text("answer to one");
  first->sink->finish(agents::Done{});
  std::size_t said = 2;
  for (const char* text : {"two", "three"}) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    CHECK(task::text_of(turn->turn.message) == text);
    // The turn sees earlier replies, but no messages that wait behind it.
    CHECK(turn->turn.history.size() == said++);
    CHECK(task::text_of(turn->turn.history[1]) == (said == 3 ? "answer to one" : "two"));
    turn->sink->finish(agents::Done{});
  }
  CHECK(bench.wait(accepted->key)->state == State::completed);
  const auto states = states_of(bench.log(accepted->key));
  CHECK(std::count(states.begin(), states.end(), State::completed) == 1);
}

TEST_CASE("TaskService: a send to an ended task reopens it or is refused, as the request says") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("one", "t1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  const auto first_end = bench.wait(accepted->key);
  auto refused = EngineBench::message("two", "t1");
  refused.when_ended = task::WhenEnded::refuse;
  const auto refusal = bench.submit(refused);
  REQUIRE_FALSE(refusal);
  CHECK(refusal.error().code == ErrorCode::unsupported);
  REQUIRE(bench.submit(EngineBench::message("two", "t1")));
  const auto second = bench.scripted().next();
  REQUIRE(second);
  second->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key, first_end->number.value)->state == State::completed);
  CHECK(is_consecutive(bench.log(accepted->key)));
}

TEST_CASE("TaskService: another caller's task and another agent's are not found") {
  EngineBench bench;
  REQUIRE(bench.submit(EngineBench::message("mine", "t1")));
  const task::TaskRef foreign{{"mallory"}, {"scripted"}, {"t1"}};
  const task::TaskRef elsewhere{task::kAnonymous, {"helper"}, {"t1"}};
  for (const task::TaskRef& ref : {foreign, elsewhere}) {
    CHECK(bench.engine().reader().head(ref).error().code == ErrorCode::task_not_found);
    CHECK(bench.engine().push().get(ref, {}).error().code == ErrorCode::task_not_found);
    bench.engine().cancels().cancel(ref, [](base::Result<task::TaskKey> result) {
      REQUIRE_FALSE(result);
      CHECK(result.error().code == ErrorCode::task_not_found);
    });
    bench.engine().push().set(ref, {}, [](base::Result<task::PushConfig> result) {
      REQUIRE_FALSE(result);
      CHECK(result.error().code == ErrorCode::task_not_found);
    });
  }
  auto submission = EngineBench::message("theirs", "t1");
  submission.caller.value = "mallory";
  submission.when_unknown = task::WhenUnknown::refuse;
  CHECK(bench.submit(submission).error().code == ErrorCode::task_not_found);
  bench.scripted().next()->sink->finish(agents::Done{});
}

TEST_CASE("TaskService: concurrent sends with the same new id make one task") {
  EngineBench bench;
  std::vector<std::future<base::Result<engine::Accepted>>> answers;
  for (int i = 0; i < 16; ++i) {
    answers.push_back(
        std::async(std::launch::async, [&bench] { return bench.submit(EngineBench::message("x", "same")); }));
  }
  std::optional<task::TaskKey> key;
  for (auto& answer : answers) {
    const auto accepted = answer.get();
    REQUIRE(accepted);
    if (!key) key = accepted->key;
    CHECK(accepted->key == *key);
  }
  for (int i = 0; i < 16; ++i) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    turn->sink->finish(agents::Done{});
  }
  CHECK(bench.wait(*key)->state == State::completed);
}

TEST_CASE("TaskService: cancel of a waiting task ends it at once") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  bench.scripted().next()->sink->finish(asking("?"));
  REQUIRE(bench.wait(accepted->key)->state == State::input_required);
  CHECK(bench.cancel({"t1"}));
  CHECK(states_of(bench.log(accepted->key)).back() == State::canceled);
  const auto again = bench.cancel({"t1"});
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::not_cancelable);
}

TEST_CASE("TaskService: cancel is passed to the executor, whose outcome decides") {
  EngineBench bench;
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  auto canceled = bench.cancel_later({"t1"});
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  SUBCASE("the executor reports canceled") {
    turn->sink->finish(agents::Failed{"interrupted"});
    CHECK(canceled.get());
    CHECK(states_of(bench.log(accepted->key)).back() == State::canceled);
  }
  SUBCASE("the executor had finished") {
    turn->sink->finish(agents::Done{});
    const auto result = canceled.get();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::not_cancelable);
    CHECK(states_of(bench.log(accepted->key)).back() == State::completed);
  }
}

TEST_CASE("TaskService: an executor that ignores a cancel is ended after the grace") {
  EngineBench::Options options;
  options.settings.cancel_grace = std::chrono::milliseconds(30);
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  CHECK(bench.cancel({"t1"}));
  CHECK(bench.scripted().wait_for([&] { return turn->let_go; }));
  CHECK(states_of(bench.log(accepted->key)).back() == State::canceled);
}

TEST_CASE("TaskService: a turn past its deadline fails with a reason") {
  EngineBench::Options options;
  options.settings.turn_timeout = std::chrono::milliseconds(30);
  EngineBench bench(options);
  const auto accepted = bench.submit(EngineBench::message("x", "t1"));
  const auto turn = bench.scripted().next();
  CHECK(bench.wait(accepted->key)->state == State::failed);
  CHECK(bench.scripted().wait_for([&] { return turn->let_go; }));
  const auto task = bench.engine().reader().read(accepted->key, {});
  REQUIRE(task->status.message);
  CHECK(task::text_of(*task->status.message).find("did not finish") != std::string::npos);
}

TEST_CASE("TaskService: a full queue refuses, and accepted tasks still run") {
  EngineBench::Options options;
  options.engine.queue_max = 2;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  REQUIRE(bench.submit(EngineBench::message("runs", "t1")));
  const auto running = bench.scripted().next();
  REQUIRE(bench.submit(EngineBench::message("waits", "t2")));
  REQUIRE(bench.submit(EngineBench::message("waits", "t3")));
  const auto refused = bench.submit(EngineBench::message("too much", "t4"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::overloaded);
  CHECK_FALSE(bench.engine().reader().head(EngineBench::ref("t4")));
  running->sink->finish(agents::Done{});
  for (int i = 0; i < 2; ++i) {
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    turn->sink->finish(agents::Done{});
  }
}

TEST_CASE("TaskService: a task's history is bounded") {
  EngineBench::Options options;
  options.engine.history_max = 2;
  EngineBench bench(options);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(bench.submit(EngineBench::message("x", "t1")));
    bench.scripted().next()->sink->finish(agents::Done{});
    while (bench.engine().reader().head(EngineBench::ref("t1"))->state != State::completed)
      std::this_thread::yield();
  }
  const auto refused = bench.submit(EngineBench::message("x", "t1"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
}

TEST_CASE("TaskService: the parts of a message and of its history are bounded") {
  EngineBench::Options options;
  options.engine.parts_max = 3;
  EngineBench bench(options);
  task::Submission submission = EngineBench::message("x", "t1");
  submission.message.parts.resize(4, task::Part::of_text("x"));
  SUBCASE("the message") {}
  SUBCASE("an earlier one") {
    submission.message.parts.resize(1);
    submission.history.emplace(1).front().parts.resize(4, task::Part::of_text("x"));
  }
  const auto refused = bench.submit(std::move(submission));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
  CHECK(refused.error().for_caller == "message.parts: a message may have at most 3 parts");
}

TEST_CASE("TaskService: canceling a queued task frees its place, and it may be sent again") {
  EngineBench::Options options;
  options.engine.queue_max = 1;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  REQUIRE(bench.submit(EngineBench::message("runs", "t1")));
  const auto running = bench.scripted().next();
  REQUIRE(running);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(bench.submit(EngineBench::message("waits", "t2")));
    CHECK(bench.cancel({"t2"}));
  }
  const auto last = bench.submit(EngineBench::message("waits", "t2"));
  REQUIRE(last);
  running->sink->finish(agents::Done{});
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  auto canceled = bench.cancel_later({"t2"});
  REQUIRE(bench.scripted().wait_for([&] { return turn->canceled; }));
  turn->sink->finish(agents::Canceled{});
  CHECK(canceled.get());
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("TaskService: a cancel during completion ends in one state, which the caller gets") {
  EngineBench bench;
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const std::string id = "t" + std::to_string(i);
    const auto accepted = bench.submit(EngineBench::message("x", id));
    const auto turn = bench.scripted().next();
    REQUIRE(turn);
    const std::chrono::microseconds head_start(random() % 3 * 100);
    std::jthread finishing([&] {
      test::give_way(head_start);
      turn->sink->text("some");
      turn->sink->finish(agents::Done{});
    });
    const auto told = bench.cancel({id});
    finishing.join();
    const auto log = bench.log(accepted->key);
    const auto states = states_of(log);
    CHECK(std::count_if(states.begin(), states.end(), task::is_terminal) == 1);
    CHECK(is_consecutive(log));
    CHECK(states.back() == (told ? State::canceled : State::completed));
  }
}

TEST_CASE("TaskService: the logs of many concurrent tasks with much output are complete") {
  EngineBench bench;
  constexpr int kTasks = 40;
  std::vector<task::TaskKey> keys;
  std::vector<std::jthread> agents;
  for (int i = 0; i < kTasks; ++i) {
    const auto accepted = bench.submit(EngineBench::message("x", "t" + std::to_string(i)));
    REQUIRE(accepted);
    keys.push_back(accepted->key);
    if (i % 8 != 7) continue;
    for (int j = 0; j < 8; ++j) {
      const auto turn = bench.scripted().next();
      REQUIRE(turn);
      agents.emplace_back([turn] {
        for (int n = 0; n < 200; ++n) turn->sink->text(std::to_string(n) + ",");
        turn->sink->finish(agents::Done{});
      });
    }
    agents.clear();
  }
  std::string expected;
  for (int n = 0; n < 200; ++n) expected += std::to_string(n) + ",";
  for (const task::TaskKey key : keys) {
    REQUIRE(bench.wait(key)->state == State::completed);
    CHECK(is_consecutive(bench.log(key)));
    const auto task = bench.engine().reader().read(key, {});
    REQUIRE(task->artifacts.size() == 1);
    CHECK(task->artifacts[0].parts[0].content == expected);
  }
}

}  // namespace task_service_test
