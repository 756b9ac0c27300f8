// Lists, titles and deletions of conversations, over an engine with scripted agents.
#include "engine/conversations.h"

#include <doctest/doctest.h>

#include <chrono>
#include <future>

#include "support/engine_bench.h"

namespace conversations_test {

using namespace baton;
using base::ErrorCode;
using test::EngineBench;
using namespace std::chrono_literals;

namespace {

const task::AgentName kAgent{"scripted"};

class Bench : public EngineBench {
 public:
  Bench() : EngineBench(with_retention()) {}

  task::TaskHead begun(const std::string& text, const std::string& context,
                       const std::string& caller = "ann") {
    // Ids ascend, so that tasks of the same millisecond are listed in the order of their beginning.
    task::Submission submission = message(text, "task-" + std::to_string(++tasks_));
    submission.caller = {caller};
    submission.context = {context};
    const auto accepted = submit(std::move(submission));
    REQUIRE(accepted);
    return engine().reader().head(accepted->key).value();
  }
  task::TaskHead ended(const std::string& text, const std::string& context,
                       const std::string& caller = "ann") {
    const task::TaskHead head = begun(text, context, caller);
    scripted().next()->sink->finish(agents::Done{});
    REQUIRE(wait(head.key));
    return head;
  }
  engine::Conversations& conversations() { return engine().conversations(); }
  engine::Conversations::Page list(int limit, std::optional<task::ListPosition> after = {}) {
    auto page = conversations().list({"ann"}, kAgent, std::move(after), limit);
    REQUIRE(page);
    return std::move(*page);
  }
  base::Result<engine::Conversation> rename(const std::string& context, std::optional<std::string> title) {
    std::promise<base::Result<engine::Conversation>> renamed;
    conversations().rename(ref(context), title, [&](auto result) { renamed.set_value(std::move(result)); });
    return renamed.get_future().get();
  }
  base::Result<void> erase(const std::string& context, std::chrono::milliseconds patience = 1min) {
    std::promise<base::Result<void>> erased;
    conversations().erase(ref(context), *engine().erasure(), patience,
                          [&](auto result) { erased.set_value(std::move(result)); });
    return erased.get_future().get();
  }
  static task::ContextRef ref(const std::string& context) { return {{"ann"}, kAgent, {context}}; }

 private:
  int tasks_ = 100;
};

std::vector<std::string> ids_of(const engine::Conversations::Page& page) {
  std::vector<std::string> ids;
  for (const engine::Conversation& one : page.conversations) ids.push_back(one.id.value);
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("Conversations: each is listed once, on the page of its newest task") {
  Bench bench;
  for (const char* context : {"c1", "c2", "c1", "c3", "c2"}) bench.ended("hello", context);
  bench.ended("not hers", "c4", "ben");
  CHECK(ids_of(bench.list(10)) == Ids{"c2", "c3", "c1"});
  CHECK(!bench.list(10).next);
  CHECK(!bench.list(3).next);
  const auto first = bench.list(2);
  CHECK(ids_of(first) == Ids{"c2", "c3"});
  REQUIRE(first.next);
  const auto second = bench.list(2, first.next);
  CHECK(ids_of(second) == Ids{"c1"});
  CHECK(!second.next);
}

TEST_CASE("Conversations: the title is the caller's or else the first words, and cannot be empty") {
  Bench bench;
  bench.ended("good day", "c1");
  CHECK(bench.conversations().find(Bench::ref("c1"))->title == "good day");
  CHECK(bench.rename("c1", "  Weather\n")->title == "Weather");
  CHECK(bench.list(1).conversations.front().title == "Weather");
  for (const std::string& wrong : {std::string(), std::string(" \n"), std::string(201, 'x')})
    CHECK(bench.rename("c1", wrong).error().code == ErrorCode::invalid_argument);
  CHECK(bench.rename("c1", std::nullopt)->title == "good day");
  CHECK(bench.rename("c2", "Weather").error().code == ErrorCode::not_found);
}

TEST_CASE("Conversations: deleting one that waits for its caller cancels it and removes no other") {
  Bench bench;
  const task::TaskHead kept = bench.ended("kept", "c2");
  bench.ended("one", "c1");
  const task::TaskHead asks = bench.begun("two", "c1");
  bench.scripted().next()->sink->finish(agents::Asked{"q1", false, {}});
  REQUIRE(bench.wait(asks.key));
  CHECK(bench.erase("c1").has_value());
  CHECK(ids_of(bench.list(10)) == Ids{"c2"});
  CHECK(bench.engine().reader().head(asks.key).error().code == ErrorCode::task_not_found);
  CHECK(bench.engine().reader().head(kept.key).has_value());
  CHECK(bench.erase("c1").error().code == ErrorCode::not_found);
}

TEST_CASE("Conversations: deleting one that is working removes it after its work has ended") {
  Bench bench;
  const task::TaskHead head = bench.begun("work", "c1");
  const auto run = bench.scripted().next();
  std::promise<base::Result<void>> erased;
  bench.conversations().erase(Bench::ref("c1"), *bench.engine().erasure(), 1min,
                              [&](auto result) { erased.set_value(std::move(result)); });
  auto outcome = erased.get_future();
  REQUIRE(bench.scripted().wait_for([&] { return run->canceled; }));
  CHECK(outcome.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  run->sink->finish(agents::Canceled{});
  CHECK(outcome.get().has_value());
  CHECK(bench.engine().reader().head(head.key).error().code == ErrorCode::task_not_found);
}

TEST_CASE("Conversations: a deleted one whose work does not end in time stays until the work has ended") {
  Bench bench;
  const task::TaskHead ended = bench.ended("one", "c1");
  const task::TaskHead head = bench.begun("work", "c1");
  const auto run = bench.scripted().next();
  CHECK(bench.erase("c1", 10ms).error().code == ErrorCode::conflict);
  REQUIRE(bench.scripted().wait_for([&] { return run->canceled; }));
  CHECK(bench.engine().reader().head(head.key).has_value());
  run->sink->finish(agents::Canceled{});
  REQUIRE(bench.wait(head.key));
  CHECK(bench.erase("c1").has_value());
  CHECK(bench.engine().reader().head(ended.key).error().code == ErrorCode::task_not_found);
  CHECK(bench.engine().reader().head(head.key).error().code == ErrorCode::task_not_found);
}

}  // namespace conversations_test
