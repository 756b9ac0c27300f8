// What the chat protocols ask of the task service: names of requests, owners of contexts, histories of
// clients, and an end to what nobody follows any more.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "engine/send_digest.h"
#include "engine/task_service.h"
#include "support/engine_bench.h"
#include "support/patience.h"

using namespace baton;
using base::ErrorCode;
using task::State;
using test::EngineBench;

namespace {

constexpr std::chrono::milliseconds kNow{0};

// A request as the doors of the chat protocols make it.
task::Submission chat(const std::string& text, const std::string& name = {},
                      const std::string& context = "thread") {
  task::Submission submission = EngineBench::message(text);
  submission.context = {context};
  submission.name = name;
  submission.origin = task::Generation::none;
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

bool wait_cancel(EngineBench& bench, task::TaskKey key) {
  const auto until = std::chrono::steady_clock::now() + test::patience();
  while (!bench.store().head(key)->cancel_requested) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE(
    "TaskService: requests of one name are one, whatever they say, and the earlier one is found by it") {
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

TEST_CASE("TaskService: a request of another name, context, agent or caller is another request") {
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

TEST_CASE("TaskService: requests of one name made many times at once are one task and one turn") {
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

TEST_CASE("TaskService: a named answer is a run of its own, found after the stop before it") {
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
  CHECK(tasks.run_begin(begun->key, stop->number)->value == 0);
  CHECK(tasks.run_begin(begun->key, answered->after)->value == stop->number.value);
}

TEST_CASE("Send digest: a name's is never a message's, and its parts do not run together") {
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

TEST_CASE("TaskService: the first user named in a context owns it, another one is refused") {
  EngineBench bench;
  const auto& tasks = bench.engine().tasks();
  const auto owner = [&](const std::string& context) {
    return *tasks.context_owner(task::kAnonymous, {"scripted"}, {context});
  };
  CHECK(owner("thread").empty());
  REQUIRE(bench.submit(chat("nobody in particular")));
  CHECK(owner("thread").empty());
  auto anns = chat("ann's");
  anns.user = "ann";
  REQUIRE(bench.submit(anns));
  CHECK(owner("thread") == "ann");
  REQUIRE(bench.submit(anns));
  auto bobs = chat("bob's");
  bobs.user = "bob";
  const auto refused = bench.submit(bobs);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  REQUIRE(bench.submit(chat("somebody without a name")));
  bobs.context = {"another"};
  REQUIRE(bench.submit(bobs));
  CHECK(owner("another") == "bob");
  CHECK(owner("thread") == "ann");
}

TEST_CASE("TaskService: an answer to a task is refused to another than the context's owner, and makes one") {
  EngineBench bench;
  const auto begun = bench.submit(chat("hello"));
  bench.scripted().next()->sink->finish(asking());
  REQUIRE(bench.wait(begun->key));
  auto answer = chat("so");
  answer.task = begun->id;
  answer.user = "ann";
  REQUIRE(bench.submit(answer));
  CHECK(*bench.engine().tasks().context_owner(task::kAnonymous, {"scripted"}, {"thread"}) == "ann");
  answer.user = "bob";
  const auto refused = bench.submit(answer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
}

TEST_CASE("TaskService: of users who come first at once one owns the context and the others are refused") {
  EngineBench bench;
  std::vector<std::future<base::Result<engine::Accepted>>> answers;
  for (int i = 0; i < 8; ++i) {
    answers.push_back(std::async(std::launch::async, [&, i] {
      auto submission = chat("hello");
      submission.user = "user " + std::to_string(i);
      return bench.submit(submission);
    }));
  }
  int taken = 0;
  for (auto& answer : answers) {
    const auto accepted = answer.get();
    if (accepted) {
      ++taken;
    } else {
      CHECK(accepted.error().code == ErrorCode::conflict);
    }
  }
  CHECK(taken == 1);
}

TEST_CASE("TaskService: a client's own history is what the agent is told, also an empty one") {
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

TEST_CASE("TaskService: a turn that runs again is told the client's history again, an ended one's is gone") {
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
  const auto message = bench.store().head(accepted->key)->turn_message;
  CHECK(bench.store().turn_input(accepted->key, message)->request.history.has_value());
  again->sink->finish(agents::Done{});
  REQUIRE(bench.wait(accepted->key));
  CHECK_FALSE(bench.store().turn_input(accepted->key, message)->request.history.has_value());
}

TEST_CASE("TaskService: a chat's task that nobody follows is canceled after the grace, one that is is not") {
  EngineBench bench;
  const auto left = bench.submit(chat("left"));
  const auto followed = bench.submit(chat("followed"));
  {
    const auto subscription = bench.engine().feed().subscribe(followed->key, [] {});
    bench.engine().tasks().cancel_unless_followed(followed->key, kNow);
    bench.engine().tasks().cancel_unless_followed(left->key, kNow);
    // Graces pass in order, so the other one's has by then.
    REQUIRE(wait_cancel(bench, left->key));
    CHECK_FALSE(bench.store().head(followed->key)->cancel_requested);
  }
  bench.engine().tasks().cancel_unless_followed(followed->key, kNow);
  CHECK(wait_cancel(bench, followed->key));
}

TEST_CASE("TaskService: what A2A began, waits for its caller or has ended stays as it is when left alone") {
  EngineBench bench;
  auto a2a = chat("A2A");
  a2a.origin = task::Generation::v1_0;
  const auto of_a2a = bench.submit(a2a);
  REQUIRE(bench.scripted().next());
  const auto asked = bench.submit(chat("asks"));
  bench.scripted().next()->sink->finish(asking());
  REQUIRE(bench.wait(asked->key)->state == State::input_required);
  const auto left = bench.submit(chat("left"));
  const auto leaves = bench.scripted().next();
  for (const auto& one : {of_a2a, asked, left}) {
    bench.engine().tasks().cancel_unless_followed(one->key, kNow);
  }
  REQUIRE(bench.scripted().wait_for([&] { return leaves->canceled; }));
  CHECK_FALSE(bench.store().head(of_a2a->key)->cancel_requested);
  CHECK(bench.store().head(asked->key)->state == State::input_required);
}

TEST_CASE("TaskService: a grace that has not passed at the end is dropped") {
  EngineBench bench;
  const auto accepted = bench.submit(chat("hello"));
  REQUIRE(bench.scripted().next());
  bench.engine().tasks().cancel_unless_followed(accepted->key, std::chrono::hours(1));
  bench.restart();
  const auto again = bench.scripted().next();
  REQUIRE(again);
  again->sink->finish(agents::Done{});
  CHECK(bench.wait(accepted->key)->state == State::completed);
}

TEST_CASE("TaskService: an agent's turn knows the ids of the tool calls that its context has") {
  EngineBench bench;
  const auto first = bench.submit(chat("hello"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  CHECK(turn->turn.call_ids.empty());
  turn->sink->emit(task::ToolCall{"call-1", "look", {}, false});
  turn->sink->finish(agents::Done{});
  REQUIRE(bench.wait(first->key));
  REQUIRE(bench.submit(chat("again")));
  CHECK(bench.scripted().next()->turn.call_ids == std::vector<std::string>{"call-1"});
  REQUIRE(bench.submit(chat("elsewhere", "", "another thread")));
  CHECK(bench.scripted().next()->turn.call_ids.empty());
}

TEST_CASE("TaskService: of several answers to one ask one is taken, the others are a conflict") {
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

TEST_CASE("TaskService: an answer to another ask than the one that is open is a conflict") {
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
