#include "engine/sends/push_configs.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "support/engine_bench.h"

namespace push_configs_test {

using namespace baton;
using base::ErrorCode;
using test::EngineBench;

namespace {

base::Result<task::PushConfig> set(EngineBench& bench, const std::string& id, task::PushConfig config) {
  std::promise<base::Result<task::PushConfig>> promise;
  bench.engine().push().set(EngineBench::ref(id), std::move(config),
                            [&](base::Result<task::PushConfig> set) { promise.set_value(std::move(set)); });
  return promise.get_future().get();
}

base::Result<void> remove(EngineBench& bench, const task::TaskRef& ref, const std::string& config) {
  std::promise<base::Result<void>> promise;
  bench.engine().push().remove(ref, {config},
                               [&](base::Result<void> removed) { promise.set_value(std::move(removed)); });
  return promise.get_future().get();
}

std::vector<std::string> ids_of(EngineBench& bench, const std::string& id) {
  std::vector<std::string> ids;
  const auto configs = bench.engine().push().list(EngineBench::ref(id));
  REQUIRE(configs);
  for (const task::PushConfig& config : *configs) ids.push_back(config.id.value);
  return ids;
}

task::PushConfig config_of(task::ProtocolVersion version, const std::string& id = {}) {
  task::PushConfig config;
  config.id = {id};
  config.url = "http://192.0.2.1/hook";
  config.version = version;
  return config;
}

// A task that the engine does not change on its own.
task::TaskKey without_turn(EngineBench& bench, const std::string& id) {
  task::Change created;
  created.create.emplace();
  created.create->id = {id};
  created.create->agent = {"scripted"};
  created.create->caller = task::kAnonymous;
  created.create->context = {"c1"};
  created.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, {}}, {}});
  store::TaskRow row;
  REQUIRE(bench.store().apply(created, row));
  REQUIRE(bench.store().commit());
  return row.head.key;
}

}  // namespace

TEST_CASE("PushConfigs: configs are listed in order of creation, and deleting one twice succeeds") {
  EngineBench bench;
  REQUIRE(bench.submit(EngineBench::message("x", "t1")));
  CHECK(ids_of(bench, "t1").empty());
  for (const char* id : {"b", "a", "c"})
    REQUIRE(set(bench, "t1", config_of(task::ProtocolVersion::v1_0, id)));
  CHECK(ids_of(bench, "t1") == std::vector<std::string>{"b", "a", "c"});
  CHECK(remove(bench, EngineBench::ref("t1"), "a"));
  CHECK(remove(bench, EngineBench::ref("t1"), "a"));
  CHECK(ids_of(bench, "t1") == std::vector<std::string>{"b", "c"});
  CHECK(bench.engine().push().get(EngineBench::ref("t1"), {"a"}).error().code == ErrorCode::not_found);
}

TEST_CASE("PushConfigs: a config without an id is new in 1.0, and replaces the task's own before 1.0") {
  EngineBench bench;
  auto with_config = EngineBench::message("x", "t1");
  with_config.push = config_of(task::ProtocolVersion::v0_3);
  REQUIRE(bench.submit(with_config));
  CHECK(ids_of(bench, "t1") == std::vector<std::string>{"t1"});
  const auto older = set(bench, "t1", config_of(task::ProtocolVersion::v0_3));
  REQUIRE(older);
  CHECK(older->id.value == "t1");
  const auto newer = set(bench, "t1", config_of(task::ProtocolVersion::v1_0));
  const auto another = set(bench, "t1", config_of(task::ProtocolVersion::v1_0));
  REQUIRE(newer);
  REQUIRE(another);
  CHECK_FALSE(newer->id.empty());
  CHECK(newer->id != another->id);
  CHECK(ids_of(bench, "t1").size() == 3);
}

TEST_CASE("PushConfigs: configs sent with messages count towards the limit") {
  EngineBench::Options options;
  options.engine.push_configs_max = 1;
  EngineBench bench(options);
  auto with_config = EngineBench::message("x", "t1");
  with_config.push = config_of(task::ProtocolVersion::v1_0);
  REQUIRE(bench.submit(with_config));
  const auto before = ids_of(bench, "t1");
  CHECK(bench.submit(with_config).error().code == ErrorCode::too_large);
  CHECK(ids_of(bench, "t1") == before);
  with_config.push->id = {before.at(0)};
  CHECK(bench.submit(with_config));
  CHECK(ids_of(bench, "t1") == before);
}

TEST_CASE("PushConfigs: settle waits for pending sets and deletes") {
  EngineBench bench;
  without_turn(bench, "t1");
  engine::PushConfigs& push = bench.engine().push();
  for (const bool deletes : {false, true}) {
    CAPTURE(deletes);
    // Blocks the flushing thread until settle returns. Settle waits for that thread, so this ends by timeout.
    std::promise<void> settled;
    std::promise<void> stood_still;
    std::atomic<bool> answered{false};
    push.remove(EngineBench::ref("t1"), {"none"}, [&](const base::Result<void>&) {
      settled.get_future().wait_for(std::chrono::milliseconds(200));
      stood_still.set_value();
    });
    if (deletes) {
      push.remove(EngineBench::ref("t1"), {"a"}, [&](const base::Result<void>&) { answered = true; });
    } else {
      push.set(EngineBench::ref("t1"), config_of(task::ProtocolVersion::v1_0, "a"),
               [&](const base::Result<task::PushConfig>&) { answered = true; });
    }
    bench.engine().settle();
    CHECK(answered);
    settled.set_value();
    stood_still.get_future().wait();
    // All calls above must be answered before the variables they use are destroyed.
    REQUIRE(remove(bench, EngineBench::ref("t1"), "none"));
  }
}

TEST_CASE("PushConfigs: configs of another caller's task can be neither listed nor deleted") {
  EngineBench bench;
  REQUIRE(bench.submit(EngineBench::message("x", "t1")));
  REQUIRE(set(bench, "t1", config_of(task::ProtocolVersion::v1_0, "a")));
  const task::TaskRef foreign{{"mallory"}, {"scripted"}, {"t1"}};
  CHECK(bench.engine().push().list(foreign).error().code == ErrorCode::task_not_found);
  CHECK(remove(bench, foreign, "a").error().code == ErrorCode::task_not_found);
  CHECK(ids_of(bench, "t1").size() == 1);
}

TEST_CASE("PushConfigs: if webhooks are switched off every method fails with that reason") {
  EngineBench::Options options;
  options.engine.push_enabled = false;
  EngineBench bench(options);
  REQUIRE(bench.submit(EngineBench::message("x", "t1")));
  const auto ref = EngineBench::ref("t1");
  CHECK(set(bench, "t1", config_of(task::ProtocolVersion::v1_0)).error().code ==
        ErrorCode::push_not_supported);
  CHECK(remove(bench, ref, "a").error().code == ErrorCode::push_not_supported);
  CHECK(bench.engine().push().list(ref).error().code == ErrorCode::push_not_supported);
  CHECK(bench.engine().push().get(ref, {}).error().code == ErrorCode::push_not_supported);
  auto with_config = EngineBench::message("x", "t2");
  with_config.push = config_of(task::ProtocolVersion::v1_0);
  CHECK(bench.submit(with_config).error().code == ErrorCode::push_not_supported);
}

}  // namespace push_configs_test
