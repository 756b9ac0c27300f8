#include "server/show/task_tree.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "json/document.h"
#include "support/engine_bench.h"
#include "support/patience.h"

namespace task_tree_test {
namespace {

using namespace baton;
using server::TaskTree;
using test::EngineBench;
using RunningPtr = test::ScriptedExecutor::RunningPtr;

agents::DelegateRequest work(const std::string& call, const std::string& agent) {
  agents::DelegateRequest request;
  request.id = call;
  request.label = "label of " + call;
  request.agent = agent;
  request.message.parts.push_back(task::Part::of_text("work"));
  return request;
}

// A task with two children. The second child has one child.
class Family {
 public:
  Family() {
    root_ = bench_.submit(EngineBench::message("parent", "root"))->key;
    parent_ = bench_.scripted().next();
    parent_->sink->delegate(work("one", "helper"));
    first_ = bench_.helper().next();
    first_->sink->finish(agents::Failed{"no idea"});
    REQUIRE(bench_.scripted().wait_for([&] { return parent_->delivered.size() == 1; }));
    parent_->sink->delegate(work("two", "helper"));
    second_ = bench_.helper().next();
    second_->sink->delegate(work("three", "scripted"));
    third_ = bench_.scripted().next();
    REQUIRE(third_);
    // A child may have begun before its parent's log names it.
    REQUIRE(test::eventually([&] {
      return tree().find("\"tasks\":4") != std::string::npos && tree().find("no idea") != std::string::npos;
    }));
  }

  std::string tree(const TaskTree::Limits& limits = {}) {
    TaskTree tree(services_, *bench_.engine().reader().head(root_), limits);
    while (true) {
      const auto done = tree.read_some();
      REQUIRE(done);
      if (*done) return tree.to_json(base::from_ms(1'000));
    }
  }

  void finish() {
    third_->sink->finish(agents::Done{});
    REQUIRE(bench_.helper().wait_for([&] { return second_->delivered.size() == 1; }));
    second_->sink->finish(agents::Done{});
    REQUIRE(bench_.scripted().wait_for([&] { return parent_->delivered.size() == 2; }));
    parent_->sink->finish(agents::Done{});
    REQUIRE(bench_.wait(root_));
  }

 private:
  static std::vector<agents::Agent> agents() {
    std::vector<agents::Agent> all(2);
    all[0].name.value = "scripted";
    all[1].name.value = "helper";
    all[1].settings.executor = agents::AgentSettings::Kind::a2a;
    return all;
  }

  EngineBench bench_;
  server::ServerOptions options_;
  agents::Catalogue catalogue_{agents()};
  base::WorkerPool readers_{"readers", 1, 10};
  server::Services services_{bench_.engine(), catalogue_, options_, readers_, {}};
  task::TaskKey root_;
  RunningPtr parent_, first_, second_, third_;
};

json::Value child(json::Value node, std::size_t wanted) {
  for (const json::Value one : node["children"]) {
    if (wanted-- == 0) return one;
  }
  return {};
}

TEST_CASE("TaskTree: each task has its place, state, times and its parent's label") {
  Family family;
  const std::string text = family.tree();
  const auto document = json::Document::view_of(text);
  const json::Value root = document.root()["root"];
  CHECK(document.root()["at"].string() == "1970-01-01T00:00:01.000Z");
  CHECK(document.root()["tasks"].integer() == 4);
  CHECK(document.root()["cut"].absent());
  CHECK(root["id"].string() == "root");
  CHECK(root["kind"].string() == "agent");
  CHECK(root["state"].string() == "working");
  CHECK(root["children"].size() == 2);
  const json::Value first = child(root, 0), second = child(root, 1), third = child(second, 0);
  CHECK(first["label"].string() == "label of one");
  CHECK(first["kind"].string() == "remote");
  CHECK(first["state"].string() == "failed");
  CHECK(first["error"].string() == "no idea");
  CHECK_FALSE(first["endedAt"].absent());
  CHECK(second["state"].string() == "working");
  CHECK(second["endedAt"].absent());
  CHECK(third["agent"].string() == "scripted");
  CHECK_FALSE(third["begunAt"].absent());
  family.finish();
  const std::string ended = family.tree();
  CHECK(json::Document::view_of(ended).root()["root"]["state"].string() == "completed");
}

TEST_CASE("TaskTree: a tree over a limit is cut and shows where and why") {
  Family family;
  const auto cut_by = [&](const TaskTree::Limits& limits, std::int64_t tasks, const char* why) {
    const std::string text = family.tree(limits);
    const auto document = json::Document::view_of(text);
    CHECK(document.root()["tasks"].integer() == tasks);
    CHECK(document.root()["cut"].string() == why);
    return text;
  };
  const std::string by_tasks = cut_by({.tasks = 3}, 3, "tasks"), by_depth = cut_by({.depth = 2}, 3, "depth");
  for (const std::string& text : {by_tasks, by_depth}) {
    const auto document = json::Document::view_of(text);
    CHECK(document.root()["root"]["childrenLeftOut"].absent());
    CHECK(child(document.root()["root"], 1)["childrenLeftOut"].boolean());
  }
  cut_by({.bytes = 1}, 3, "size");
}

}  // namespace
}  // namespace task_tree_test
