#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/engine_bench.h"

namespace delegation_urls_test {

using namespace baton;
using test::EngineBench;
using test::ScriptedExecutor;

namespace {

// An engine with one agent, and a second one for all URLs below https://a/ that runs one turn at a time.
class UrlBench {
 public:
  UrlBench() : store_(clock_), catalogue_(agents()) {
    agents::Agent agent = named("~elsewhere", elsewhere_);
    agent.settings.concurrency = 1;
    catalogue_.add_elsewhere(std::move(agent),
                             [](std::string_view url) { return url.starts_with("https://a/"); });
    engine_ = std::make_unique<engine::Engine>(store_, store_, store_, catalogue_, clock_,
                                               EngineBench::short_drain(), engine::EngineWiring());
    REQUIRE(engine_->start().has_value());
  }

  ScriptedExecutor::RunningPtr begin() {
    engine_->tasks().submit(EngineBench::message("parent"), [](const base::Result<engine::Accepted>&) {});
    return scripted_->next();
  }
  ScriptedExecutor& scripted() { return *scripted_; }
  ScriptedExecutor& elsewhere() { return *elsewhere_; }
  engine::Engine& engine() { return *engine_; }

 private:
  static agents::Agent named(const std::string& name, ScriptedExecutor*& executor) {
    auto made = std::make_unique<ScriptedExecutor>();
    executor = made.get();
    agents::Agent agent;
    agent.name.value = name;
    agent.executor = std::move(made);
    return agent;
  }
  std::vector<agents::Agent> agents() {
    std::vector<agents::Agent> all;
    all.push_back(named("scripted", scripted_));
    return all;
  }

  const base::SystemClock clock_;
  store::MemoryStore store_;
  ScriptedExecutor* scripted_ = nullptr;
  ScriptedExecutor* elsewhere_ = nullptr;
  agents::Catalogue catalogue_;
  std::unique_ptr<engine::Engine> engine_;
};

void delegate(const ScriptedExecutor::RunningPtr& parent, const std::string& url) {
  agents::DelegateRequest request;
  request.id = url;
  request.agent = url;
  request.message.parts.push_back(task::Part::of_text("work"));
  parent->sink->delegate(request);
}

}  // namespace

TEST_CASE("Delegation: children at URLs share one agent's slots and release them") {
  UrlBench bench;
  const auto parent = bench.begin();
  REQUIRE(parent);
  const std::vector<std::string> urls{"https://a/1", "https://a/2", "https://a/3"};
  for (const std::string& url : urls) delegate(parent, url);
  std::vector<std::string> worked;
  for (std::size_t left = urls.size(); left > 0; --left) {
    const auto child = bench.elsewhere().next();
    REQUIRE(child);
    worked.push_back(child->turn.agent.value);
    // The others wait for its slot.
    while (bench.engine().counts().turns.queued + static_cast<int>(bench.elsewhere().waiting()) <
           static_cast<int>(left) - 1) {
      std::this_thread::yield();
    }
    CHECK(bench.elsewhere().waiting() == 0);
    child->sink->finish(agents::Done{});
  }
  CHECK(bench.scripted().wait_for([&] { return parent->delivered.size() == urls.size(); }));
  std::ranges::sort(worked);
  CHECK(worked == urls);
}

TEST_CASE("Delegation: a child at a URL that is not allowed gives a result with the error") {
  UrlBench bench;
  const auto parent = bench.begin();
  REQUIRE(parent);
  delegate(parent, "https://b/1");
  REQUIRE(bench.scripted().wait_for([&] { return parent->delivered.size() == 1; }));
  CHECK(parent->delivered.front().error ==
        "the setting outbound.delegate_urls does not allow this agent's URL");
  CHECK_FALSE(parent->delivered.front().task);
}

}  // namespace delegation_urls_test
