#include <doctest/doctest.h>

#include <algorithm>

#include "engine/sends/task_service.h"
#include "support/engine_bench.h"

namespace task_service_repeats_test {

using namespace baton;
using base::ErrorCode;
using task::State;
using test::EngineBench;

namespace {

// A send of A2A 0.2 or later: the message has an id, and Baton chooses the task's id.
task::Submission send(const std::string& text, const std::string& message_id, const task::TaskId& task = {}) {
  task::Submission submission = EngineBench::message(text, task.value);
  submission.message.id = {message_id};
  submission.when_unknown = task::WhenUnknown::refuse;
  submission.when_ended = task::WhenEnded::refuse;
  return submission;
}

agents::Asked asking() {
  task::Message message;
  message.parts.push_back(task::Part::of_text("?"));
  return {"ask-1", false, std::move(message)};
}

std::vector<base::Result<engine::Accepted>> submit_at_once(EngineBench& bench,
                                                           const task::Submission& submission) {
  std::vector<std::future<base::Result<engine::Accepted>>> answers;
  for (int i = 0; i < 16; ++i) {
    answers.push_back(std::async(std::launch::async, [&] { return bench.submit(submission); }));
  }
  std::vector<base::Result<engine::Accepted>> accepted;
  for (auto& answer : answers) accepted.push_back(answer.get());
  return accepted;
}

// Checks that all have the same task, and that all but one are marked as repeated.
void check_one_new(const std::vector<base::Result<engine::Accepted>>& answers) {
  int fresh = 0;
  for (const auto& answer : answers) {
    REQUIRE(answer);
    CHECK(answer->key == answers.front()->key);
    CHECK(answer->id == answers.front()->id);
    CHECK(answer->context == answers.front()->context);
    CHECK(answer->before == answers.front()->before);
    CHECK(answer->after == answers.front()->after);
    if (!answer->repeated) ++fresh;
  }
  CHECK(fresh == 1);
}

long messages_in(const std::vector<task::Event>& log) {
  return std::count_if(log.begin(), log.end(), [](const task::Event& event) {
    return std::holds_alternative<task::MessageAdded>(event.body);
  });
}

}  // namespace

TEST_CASE("TaskService: concurrent repeats of a send make one task and one turn") {
  EngineBench bench;
  const auto answers = submit_at_once(bench, send("hello", "m1"));
  check_one_new(answers);
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  std::vector<std::future<std::optional<engine::Stop>>> stops;
  for (const auto& answer : answers) stops.push_back(bench.wait_later(*answer));
  turn->sink->finish(agents::Done{});
  const auto first = bench.wait(answers.front()->key);
  for (auto& stop : stops) CHECK(stop.get()->number == first->number);
  CHECK(bench.scripted().waiting() == 0);
  CHECK(messages_in(bench.log(answers.front()->key)) == 1);
  task::ListFilter all{task::kAnonymous, {"scripted"}, {}, {}, {}, {}, 10};
  CHECK(engine::list_tasks(bench.engine().reader(), all, {})->total == 1);
}

TEST_CASE("TaskService: concurrent repeats of an answer make one turn, even if that ends the task") {
  EngineBench bench;
  const auto begun = bench.submit(send("hello", "m1"));
  bench.scripted().next()->sink->finish(asking());
  REQUIRE(bench.wait(begun->key)->state == State::input_required);
  std::jthread finishing([&] {
    if (const auto turn = bench.scripted().next()) turn->sink->finish(agents::Done{});
  });
  check_one_new(submit_at_once(bench, send("Android", "m2", begun->id)));
  finishing.join();
  CHECK(bench.scripted().waiting() == 0);
  CHECK(messages_in(bench.log(begun->key)) == 2);
}

TEST_CASE("TaskService: a send with other content, target or caller is not a repeat") {
  EngineBench bench;
  const auto first = bench.submit(send("hello", "m1"));
  REQUIRE(first);
  std::vector<task::Submission> others(7, send("hello", "m1"));
  others[0].message.parts[0].content = "hello!";
  others[1].message.id = {"m2"};
  others[2].caller = {"somebody"};
  others[3].message.metadata = {"{}"};
  others[4].message.extensions = {"https://example.org/e"};
  others[5].message.reference_tasks = {first->id};
  others[6].context = first->context;
  std::vector<task::TaskKey> keys{first->key};
  for (const task::Submission& other : others) {
    const auto accepted = bench.submit(other);
    REQUIRE(accepted);
    CHECK_FALSE(accepted->repeated);
    CHECK(std::find(keys.begin(), keys.end(), accepted->key) == keys.end());
    keys.push_back(accepted->key);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(bench.scripted().next());
}

TEST_CASE("TaskService: a send with other metadata or output modes is still a repeat") {
  EngineBench bench;
  const auto first = bench.submit(send("hello", "m1"));
  auto again = send("hello", "m1");
  again.metadata = {R"({"trace":2})"};
  again.accepted_output_modes = {"*/*"};
  CHECK(bench.submit(again)->key == first->key);
}

TEST_CASE("TaskService: messages without an id are never repetitions") {
  EngineBench bench;
  const auto first = bench.submit(send("hello", ""));
  const auto second = bench.submit(send("hello", ""));
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->key != second->key);
  CHECK_FALSE(second->repeated);
}

TEST_CASE("TaskService: a repeated send to an ended task gets the stop that followed the first send") {
  EngineBench bench;
  const auto begun = bench.submit(send("hello", "m1"));
  bench.scripted().next()->sink->finish(asking());
  const auto asked = bench.wait(begun->key);
  const auto answered = bench.submit(send("Android", "m2", begun->id));
  CHECK(answered->before == asked->number);
  bench.scripted().next()->sink->finish(agents::Done{});
  const auto ended = bench.wait(begun->key, asked->number.value);
  REQUIRE(ended->state == State::completed);

  const auto refused = bench.submit(send("more", "m3", begun->id));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unsupported);
  const auto first = bench.submit(send("hello", "m1"));
  const auto second = bench.submit(send("Android", "m2", begun->id));
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->repeated);
  CHECK(first->after == begun->after);
  CHECK(second->after == answered->after);
  CHECK(bench.wait_later(*first).get()->number == asked->number);
  CHECK(bench.wait_later(*second).get()->number == ended->number);
}

TEST_CASE("TaskService: a repeat of a message that waits behind a turn finds that message") {
  EngineBench bench;
  const auto begun = bench.submit(send("one", "m1"));
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  const auto behind = bench.submit(send("two", "m2", begun->id));
  const auto again = bench.submit(send("two", "m2", begun->id));
  REQUIRE(again);
  CHECK(again->repeated);
  CHECK(again->before == behind->before);
  CHECK(again->after == behind->after);
  turn->sink->finish(agents::Done{});
  const auto next = bench.scripted().next();
  REQUIRE(next);
  next->sink->finish(agents::Done{});
  CHECK(bench.wait(begun->key)->state == State::completed);
  CHECK(messages_in(bench.log(begun->key)) == 2);
}

TEST_CASE("TaskService: a repeat while the queue is full is answered") {
  EngineBench::Options options;
  options.engine.queue_max = 1;
  options.settings.concurrency = 1;
  EngineBench bench(options);
  REQUIRE(bench.submit(send("runs", "m1")));
  REQUIRE(bench.scripted().next());
  const auto waits = bench.submit(send("waits", "m2"));
  CHECK(bench.submit(send("too much", "m3")).error().code == ErrorCode::overloaded);
  const auto again = bench.submit(send("waits", "m2"));
  REQUIRE(again);
  CHECK(again->key == waits->key);
}

TEST_CASE("TaskService: a repeat after a restart finds its task") {
  EngineBench bench;
  const auto begun = bench.submit(send("hello", "m1"));
  bench.scripted().next()->sink->finish(agents::Done{});
  const auto stop = bench.wait(begun->key);
  bench.restart();
  const auto again = bench.submit(send("hello", "m1"));
  REQUIRE(again);
  CHECK(again->repeated);
  CHECK(again->id == begun->id);
  CHECK(again->context == begun->context);
  CHECK(bench.wait_later(*again).get()->number == stop->number);
  CHECK(bench.scripted().waiting() == 0);
}

TEST_CASE("TaskService: a turn that delegates the same message again has another child") {
  EngineBench bench;
  REQUIRE(bench.submit(send("hello", "m1")));
  const auto parent = bench.scripted().next();
  REQUIRE(parent);
  std::vector<task::TaskId> children;
  for (const char* id : {"first", "second"}) {
    agents::DelegateRequest request;
    request.id = id;
    request.agent = "helper";
    request.message.id = {"same"};
    request.message.parts = {task::Part::of_text("help")};
    parent->sink->delegate(std::move(request));
    const auto child = bench.helper().next();
    REQUIRE(child);
    children.push_back(child->turn.task);
    child->sink->finish(agents::Done{});
  }
  CHECK(children[0] != children[1]);
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 2; }));
}

TEST_CASE("TaskService: a context other than the task's is refused or ignored, as the request says") {
  EngineBench bench;
  const auto begun = bench.submit(send("hello", "m1"));
  auto answer = send("more", "m2", begun->id);
  answer.context = {"another"};
  const auto refused = bench.submit(answer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().for_caller.find("message.contextId") != std::string::npos);
  answer.when_context_differs = task::WhenContextDiffers::ignore;
  const auto taken = bench.submit(answer);
  REQUIRE(taken);
  CHECK(taken->context == begun->context);
  answer = send("more", "m3", begun->id);
  answer.context = begun->context;
  CHECK(bench.submit(answer));
}

TEST_CASE("TaskService: of many messages in a waiting context one becomes the answer") {
  EngineBench bench;
  const auto asked = bench.submit(send("x", "m0"));
  REQUIRE(asked);
  bench.scripted().next()->sink->finish(asking());
  REQUIRE(bench.wait(asked->key)->state == State::input_required);
  std::vector<std::future<base::Result<engine::Accepted>>> answers;
  for (int i = 1; i <= 16; ++i) {
    task::Submission answer = send("y", "m" + std::to_string(i));
    answer.context = asked->context;
    answer.answers_context = true;
    answers.push_back(std::async(std::launch::async, [&bench, answer] { return bench.submit(answer); }));
  }
  int of_the_question = 0;
  for (auto& answer : answers) {
    const auto accepted = answer.get();
    REQUIRE(accepted);
    of_the_question += accepted->key == asked->key ? 1 : 0;
  }
  CHECK(of_the_question == 1);
}

}  // namespace task_service_repeats_test
