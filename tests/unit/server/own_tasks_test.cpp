#include "server/show/own_tasks.h"

#include <doctest/doctest.h>

#include "support/engine_bench.h"

namespace own_tasks_test {

using namespace baton;
using test::EngineBench;

namespace {

const std::string kFirst = "01a218ba-f064-7f34-9639-09e89348afb1",
                  kSecond = "01a218ba-f064-7f34-9639-17e89348afb2";

void submit(EngineBench& bench, const std::string& id, const std::string& agent = "scripted",
            const task::Caller& caller = {"ann"}) {
  auto submission = EngineBench::message("work", id);
  submission.caller = caller;
  submission.agent = {agent};
  REQUIRE(bench.submit(submission));
}

// The tasks found, sorted, each as "id@agent".
std::vector<std::string> found(EngineBench& bench, const std::string& named,
                               const task::Caller& caller = {"ann"},
                               const std::vector<task::AgentName>& agents = {{"scripted"}, {"helper"}}) {
  const auto tasks = server::own_tasks(bench.engine(), caller, agents, named);
  REQUIRE(tasks);
  std::vector<std::string> texts;
  for (const server::OwnTask& one : *tasks) texts.push_back(one.id.value + "@" + one.agent.value);
  std::ranges::sort(texts);
  return texts;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Own tasks: a task is found at any agent by its id, its beginning or its short form") {
  EngineBench bench;
  submit(bench, kFirst);
  submit(bench, kSecond, "helper");
  CHECK(found(bench, kFirst) == Texts{kFirst + "@scripted"});
  CHECK(found(bench, kSecond) == Texts{kSecond + "@helper"});
  CHECK(found(bench, "17e89348afb2") == Texts{kSecond + "@helper"});
  CHECK(found(bench, "01a218ba-f064-7f34-9639-1") == Texts{kSecond + "@helper"});
  CHECK(found(bench, "01a218") == Texts{kFirst + "@scripted", kSecond + "@helper"});
  CHECK(found(bench, "01a21").empty());  // too short to identify a task
  CHECK(found(bench, "f064-7f34").empty());
  CHECK(found(bench, "").empty());
  CHECK(found(bench, std::string(5'000, '0')).empty());
  // Tasks of agents that the caller's token does not cover are not found.
  CHECK(found(bench, kSecond, {"ann"}, {{"scripted"}}).empty());
  CHECK(found(bench, "01a218", {"ann"}, {{"scripted"}}) == Texts{kFirst + "@scripted"});
}

TEST_CASE("Own tasks: a full id of any length is preferred to ids that begin with it") {
  EngineBench bench;
  submit(bench, "job");
  submit(bench, "job-one");
  submit(bench, "job-one-b", "helper");
  CHECK(found(bench, "job") == Texts{"job@scripted"});
  CHECK(found(bench, "job-one") == Texts{"job-one@scripted"});
  CHECK(found(bench, "job-on") == Texts{"job-one-b@helper", "job-one@scripted"});
}

TEST_CASE("Own tasks: other callers' tasks are not found and do not make an id ambiguous") {
  EngineBench bench;
  submit(bench, kFirst);
  submit(bench, kSecond, "scripted", {"bob"});
  submit(bench, kSecond, "helper", {std::string("north") + task::kTenantEnd + "ann"});
  CHECK(found(bench, "01a218ba") == Texts{kFirst + "@scripted"});
  CHECK(found(bench, kSecond).empty());
  CHECK(found(bench, "17e89348afb2").empty());
  CHECK(found(bench, "01a218ba", {"mallory"}).empty());
  CHECK(found(bench, "01a218ba", {}).empty());
}

TEST_CASE("Own tasks: the number of matches returned is bounded") {
  EngineBench bench;
  for (int i = 0; i < 15; ++i) submit(bench, "batch-" + std::to_string(i));
  CHECK(found(bench, "batch-").size() == server::kOwnTasksMax);
}

}  // namespace own_tasks_test
