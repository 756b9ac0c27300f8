// The parts of the task service that the chat protocols use: named requests and clients' histories.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/sends/send_digest.h"
#include "engine/sends/task_service.h"
#include "support/engine_bench.h"

namespace task_service_chat_test {

using namespace baton;
using base::ErrorCode;
using task::State;
using test::EngineBench;

namespace {

constexpr std::chrono::milliseconds kNow{0};

// A request as the handlers of the chat protocols make it.
task::Submission chat(const std::string& text, const std::string& name = {},
                      const std::string& context = "thread") {
  task::Submission submission = EngineBench::message(text);
  submission.context = {context};
  submission.name = name;
  submission.origin = task::ProtocolVersion::none;
  submission.leaving = task::Leaving::cancels;
  return submission;
}

task::Message said(task::Role role, const std::string& text) {
  task::Message message;
  message.id = {"m-" + text};
  message.role = role;
  message.parts.push_back(task::Part::of_text(text));
  return message;
}

agents::Asked asking() {
  return {"ask-1", false, said(task::Role::agent, "?")};
}

std::vector<std::string> texts(const std::vector<task::Message>& messages) {
  std::vector<std::string> found;
  for (const task::Message& message : messages) found.push_back(task::text_of(message));
  return found;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("TaskService: requests with the same name are one, regardless of content, and found by name") {
  EngineBench bench;
  const auto& tasks = bench.engine().tasks();
  CHECK(tasks.earlier(task::kAnonymous, {"scripted"}, {"thread"}, "run-1").error().code ==
        ErrorCode::not_found);
  const auto first = bench.submit(chat("hello", "run-1"));
  REQUIRE(first);
  auto changed = chat("something else", "run-1");
  changed.message.id = {"m7"};
  const auto again = bench.submit(changed);
  REQUIRE(again);
  CHECK(again->repeated);
  CHECK(again->key == first->key);
  const auto earlier = tasks.earlier(task::kAnonymous, {"scripted"}, {"thread"}, "run-1");
  REQUIRE(earlier);
  CHECK(earlier->key == first->key);
  CHECK(earlier->before == first->before);
  CHECK(earlier->after == first->after);
  CHECK(earlier->repeated);
  REQUIRE(bench.scripted().next());
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("TaskService: a request with another name, context, agent or caller is a different one") {
  EngineBench bench;
  const auto first = bench.submit(chat("hello", "run-1"));
  std::vector<task::Submission> others(4, chat("hello", "run-1"));
  others[0].name = "run-2";
  others[1].context = {"another thread"};
  others[2].agent = {"helper"};
  others[3].caller = {"somebody"};
  for (const task::Submission& other : others) {
    const auto accepted = bench.submit(other);
    REQUIRE(accepted);
    CHECK_FALSE(accepted->repeated);
    CHECK(accepted->key != first->key);
  }
}

TEST_CASE("TaskService: a name needs a context, and the same message under two names is two requests") {
  EngineBench bench;
  auto nameless = chat("hello", "run-1", "");
  const auto first = bench.submit(nameless);
  const auto second = bench.submit(nameless);
  REQUIRE(second);
  CHECK_FALSE(second->repeated);
  CHECK(second->key != first->key);
  auto named = chat("hello", "run-1");
  named.message.id = {"m1"};
  const auto third = bench.submit(named);
  named.name = "run-2";
  const auto fourth = bench.submit(named);
  REQUIRE(fourth);
  CHECK(fourth->key != third->key);
}

TEST_CASE("TaskService: concurrent requests with the same name make one task and one turn") {
  EngineBench bench;
  std::vector<std::future<base::Result<engine::Accepted>>> answers;
  for (int i = 0; i < 16; ++i) {
    answers.push_back(std::async(std::launch::async,
                                 [&, i] { return bench.submit(chat("try " + std::to_string(i), "run-1")); }));
  }
  std::vector<task::TaskKey> keys;
  long fresh = 0;
  for (auto& answer : answers) {
    const auto accepted = answer.get();
    REQUIRE(accepted);
    keys.push_back(accepted->key);
    if (!accepted->repeated) ++fresh;
  }
  CHECK(fresh == 1);
  CHECK(std::count(keys.begin(), keys.end(), keys.front()) == 16);
  REQUIRE(bench.scripted().next());
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("TaskService: a named answer is its own run, which begins after the stop before it") {
  EngineBench bench;
  const auto begun = bench.submit(chat("hello", "run-1"));
  bench.scripted().next()->sink->finish(asking());
  const auto stop = bench.wait(begun->key);
  REQUIRE(stop->state == State::input_required);
  auto answer = chat("Android", "run-2");
  answer.task = begun->id;
  const auto answered = bench.submit(answer);
  REQUIRE(answered);
  CHECK(bench.submit(answer)->repeated);
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(begun->key, stop->number.value)->state == State::completed);
  const auto& tasks = bench.engine().tasks();
  CHECK(tasks.earlier(task::kAnonymous, {"scripted"}, {"thread"}, "run-1")->before.value == 0);
  CHECK(tasks.earlier(task::kAnonymous, {"scripted"}, {"thread"}, "run-2")->before == stop->number);
  CHECK(bench.engine().reader().stop_before(begun->key, stop->number)->value == 0);
  CHECK(bench.engine().reader().stop_before(begun->key, answered->after)->value == stop->number.value);
}

TEST_CASE("Send digest: names and messages never collide, and the parts are delimited") {
  const task::Caller caller{"c"};
  const auto digest = engine::digest_of_name(caller, {"agent"}, {"context"}, "name");
  CHECK(digest == engine::digest_of_name(caller, {"agent"}, {"context"}, "name"));
  CHECK_FALSE(digest == engine::digest_of_name(caller, {"agent"}, {"contextn"}, "ame"));
  CHECK_FALSE(digest == engine::digest_of_name(caller, {"agentc"}, {"ontext"}, "name"));
  task::Submission message;
  message.caller = caller;
  message.agent = {"agent"};
  message.context = {"context"};
  message.message.id = {"name"};
  CHECK_FALSE(digest == engine::digest_of(message));
}

TEST_CASE("TaskService: the agent gets the client's own history, even if it is empty") {
  EngineBench bench;
  const auto first = bench.submit(chat("stored"));
  bench.scripted().next()->sink->finish(agents::Done{said(task::Role::agent, "stored answer")});
  REQUIRE(bench.wait(first->key));
  REQUIRE(bench.submit(chat("as Baton has it")));
  const auto as_stored = bench.scripted().next();
  REQUIRE(as_stored);
  CHECK(texts(as_stored->turn.history) == Texts{"stored", "stored answer"});
  auto own = chat("as the client has it");
  own.history = {said(task::Role::user, "mine"), said(task::Role::agent, "edited")};
  REQUIRE(bench.submit(own));
  const auto as_client = bench.scripted().next();
  REQUIRE(as_client);
  CHECK(texts(as_client->turn.history) == Texts{"mine", "edited"});
  CHECK(as_client->turn.history[1].role == task::Role::agent);
  CHECK(as_client->turn.history[1].id.value == "m-edited");
  own.history->clear();
  REQUIRE(bench.submit(own));
  const auto as_new = bench.scripted().next();
  REQUIRE(as_new);
  CHECK(as_new->turn.history.empty());
}

TEST_CASE("TaskService: a rerun turn gets the client's history again, which is removed when the turn ends") {
  EngineBench::Options options;
  options.engine.drain_grace = kNow;
  EngineBench bench(options);
  auto own = chat("hello");
  own.history = {said(task::Role::user, "mine")};
  const auto accepted = bench.submit(own);
  REQUIRE(bench.scripted().next());
  bench.restart();
  const auto again = bench.scripted().next();
  REQUIRE(again);
  CHECK(texts(again->turn.history) == Texts{"mine"});
  const auto message = bench.engine().reader().head(accepted->key)->turn_message;
  CHECK(bench.store().turn_input(accepted->key, message)->request.history.has_value());
  again->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK_FALSE(bench.store().turn_input(accepted->key, message)->request.history.has_value());
}

TEST_CASE("TaskService: a turn knows the ids of all tool calls in its context") {
  EngineBench bench;
  const auto first = bench.submit(chat("hello"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK_FALSE(turn->turn.used_ids->has("call-1"));
  turn->sink->emit(task::ToolCall{"call-1", "look", {}, false});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(first->key));
  REQUIRE(bench.submit(chat("again")));
  CHECK(bench.scripted().next()->turn.used_ids->has("call-1"));
  REQUIRE(bench.submit(chat("elsewhere", "", "another thread")));
  CHECK_FALSE(bench.scripted().next()->turn.used_ids->has("call-1"));
}

TEST_CASE("TaskService: concurrent turns of a context share the set of used ids") {
  EngineBench bench;
  REQUIRE(bench.submit(chat("one")));
  const auto one = bench.scripted().next();
  REQUIRE(bench.submit(chat("two")));
  const auto two = bench.scripted().next();
  REQUIRE(bench.submit(chat("elsewhere", "", "another thread")));
  const auto elsewhere = bench.scripted().next();
  CHECK(one->turn.used_ids->try_add("call-1"));
  CHECK_FALSE(two->turn.used_ids->try_add("call-1"));
  CHECK(elsewhere->turn.used_ids->try_add("call-1"));
}

TEST_CASE("TaskService: a question's id counts as used in its context") {
  EngineBench bench;
  const auto first = bench.submit(chat("hello"));
  bench.scripted().next()->sink->finish(agents::Asked{"q", false, {}});
  REQUIRE(bench.wait(first->key));
  REQUIRE(bench.submit(chat("again")));
  CHECK(bench.scripted().next()->turn.used_ids->has("q"));
}

TEST_CASE("TaskService: the first answer to an ask is accepted, and others are conflicts") {
  EngineBench bench;
  const auto asked = bench.submit(EngineBench::message("x", "t1"));
  REQUIRE(asked);
  bench.scripted().next()->sink->finish(agents::Asked{"a1", false, {}});
  const auto stop = bench.wait(asked->key);
  REQUIRE(stop);

  std::vector<std::promise<base::Result<engine::Accepted>>> answers(8);
  for (auto& promise : answers) {
    task::Submission answer = EngineBench::message("yes", "t1");
    answer.ask = "a1";
    bench.engine().tasks().submit(std::move(answer), [&promise](base::Result<engine::Accepted> accepted) {
      promise.set_value(std::move(accepted));
    });
  }
  int taken = 0;
  for (auto& promise : answers) {
    const auto accepted = promise.get_future().get();
    if (accepted) ++taken;
    if (!accepted) CHECK(accepted.error().code == base::ErrorCode::conflict);
  }
  CHECK(taken == 1);
  bench.scripted().next()->sink->finish(agents::Done{});
  REQUIRE(bench.wait(asked->key, stop->number.value)->state == task::State::completed);
}

TEST_CASE("TaskService: an answer to an ask that is not open is a conflict") {
  EngineBench bench;
  const auto asked = bench.submit(EngineBench::message("x", "t1"));
  REQUIRE(asked);
  task::Submission answer = EngineBench::message("yes", "t1");
  answer.ask = "a2";
  CHECK(bench.submit(answer).error().code == base::ErrorCode::conflict);
  bench.scripted().next()->sink->finish(agents::Asked{"a1", false, {}});
  REQUIRE(bench.wait(asked->key));
  CHECK(bench.submit(answer).error().code == base::ErrorCode::conflict);
}

}  // namespace task_service_chat_test
