#include "server/chat/conversation.h"

#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"

namespace restore_test {

using namespace baton;
using test::EngineBench;

namespace {

using Lines = std::vector<std::string>;

engine::Accepted said(EngineBench& bench, const std::string& text, const std::string& task = {},
                      const std::string& message = {}, const std::string& run = {}) {
  task::Submission submission = EngineBench::message(text);
  if (!message.empty()) submission.message.id.value = message;
  submission.name = run;
  submission.task.value = task;
  submission.context.value = "thread";
  const auto accepted = bench.submit(std::move(submission));
  REQUIRE(accepted);
  return *accepted;
}

void reply(EngineBench& bench, const engine::Accepted& accepted, const std::string& text,
           agents::Outcome outcome = agents::Done{}) {
  const auto turn = bench.scripted().next();
  REQUIRE(turn);
  turn->sink->text(text);
  turn->sink->finish(std::move(outcome));
  REQUIRE(bench.wait(accepted.key, accepted.before.value));
  // Waits for the next millisecond, so that messages of the next task have a later time.
  const base::SystemClock clock;
  const auto now = base::to_ms(clock.now());
  while (base::to_ms(clock.now()) == now) std::this_thread::yield();
}

agents::Asked question(const std::string& text) {
  agents::Asked asked{"ask-1", false, {}};
  asked.message.role = task::Role::agent;
  asked.message.parts = {task::Part::of_text(text)};
  return asked;
}

Lines texts(EngineBench& bench, const std::string& caller = "anonymous",
            const std::string& context = "thread") {
  const auto messages =
      server::chat::messages_in(bench.engine().reader(), {{caller}, {"scripted"}, {context}});
  REQUIRE(messages);
  Lines lines;
  for (const task::Message& message : *messages) lines.push_back(task::text_of(message));
  return lines;
}

}  // namespace

TEST_CASE("Restore: all messages of a context's tasks are restored in order of time") {
  EngineBench bench;
  const auto first = said(bench, "one");
  reply(bench, first, "first", question("which?"));
  reply(bench, said(bench, "two"), "second");
  reply(bench, said(bench, "this", first.id.value), "third");
  CHECK(texts(bench) == Lines{"one", "first", "which?", "two", "second", "this", "third"});
}

TEST_CASE("Restore: a message that is sent again begins the branch that is restored") {
  EngineBench bench;
  reply(bench, said(bench, "one", {}, "m1", "run-1"), "first");
  reply(bench, said(bench, "two", {}, "m2", "run-2"), "second");
  reply(bench, said(bench, "three", {}, "m3", "run-3"), "third");
  reply(bench, said(bench, "two", {}, "m2", "run-4"), "again");
  CHECK(texts(bench) == Lines{"one", "first", "two", "again"});
  reply(bench, said(bench, "four", {}, "m4", "run-5"), "fourth");
  reply(bench, said(bench, "two", {}, "m2", "run-6"), "at last");
  CHECK(texts(bench) == Lines{"one", "first", "two", "at last"});
  // A message that the branch has dropped may be sent again.
  reply(bench, said(bench, "three", {}, "m3", "run-7"), "third");
  CHECK(texts(bench) == Lines{"one", "first", "two", "at last", "three", "third"});
}

TEST_CASE("Restore: the ids of sent messages and of questions are known, answered or not") {
  EngineBench bench;
  const auto asked = said(bench, "one", {}, "m1", "run-1");
  reply(bench, asked, "first", question("which?"));
  reply(bench, said(bench, "this", asked.id.value, "m2"), "second");
  const auto known = server::chat::ids_in(bench.engine().reader(), {{"anonymous"}, {"scripted"}, {"thread"}});
  REQUIRE(known);
  CHECK(known->asks.contains("ask-1"));
  CHECK_FALSE(known->asks.contains("ask-2"));
  CHECK(known->messages.contains("m1"));
  CHECK(known->messages.contains("m2"));
  CHECK_FALSE(known->messages.contains("m3"));
}

TEST_CASE("Restore: other contexts and other callers get no messages") {
  EngineBench bench;
  reply(bench, said(bench, "one"), "first");
  CHECK(texts(bench, "anonymous", "other").empty());
  CHECK(texts(bench, "somebody").empty());
}

TEST_CASE("Restore: if there is too much, the newest messages are kept") {
  EngineBench bench;
  const std::string much(1 << 20, 'x');
  for (const char* text : {"1", "2", "3", "4", "5", "6"}) reply(bench, said(bench, text), text + much);
  const Lines lines = texts(bench);
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "4");
  CHECK(lines[1] == "4" + much);
  CHECK(lines.back() == "6" + much);
}

}  // namespace restore_test
