// EngineBench: an engine with a SQLite store in its own folder and two scripted agents, "scripted" and
// "helper". It can be restarted on the same folder.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>

#include "agents/cards/catalogue.h"
#include "engine/engine.h"
#include "store/sqlite/sqlite_store.h"
#include "support/faulty_store.h"
#include "support/scripted_executor.h"

namespace baton::test {

class EngineBench {
 public:
  // Options with a short drain, so that turns that a test leaves running do not delay its end.
  // Output is not delayed either.
  static engine::EngineOptions short_drain();
  struct Options {
    engine::EngineOptions engine = short_drain();
    engine::EngineWiring wiring = {};
    agents::AgentSettings settings;
    bool retention = false;                         // calls Engine::set_retention
    store::RetentionStore* removes_from = nullptr;  // likewise, with this store, which outlives the bench
    store::FaultPlan faults = {};                   // injected by the engine's store
  };

  static Options with_retention() {
    Options options;
    options.retention = true;
    return options;
  }

  EngineBench() : EngineBench(Options{}) {}
  explicit EngineBench(Options options);
  ~EngineBench();

  // Stops everything in order and builds it again on the same folder.
  void restart();
  // Like `restart`, but the store has recorded a crash instead of an orderly stop.
  void die();

  ScriptedExecutor& scripted() { return *scripted_; }
  ScriptedExecutor& helper() { return *helper_; }
  engine::Engine& engine() { return *engine_; }
  store::SqliteStore& store() { return *store_; }

  // `submit`, `cancel` and `wait` block until the answer is there.
  base::Result<engine::Accepted> submit(task::Submission submission);
  base::Result<task::TaskKey> cancel(const task::TaskId& id);
  std::future<base::Result<task::TaskKey>> cancel_later(const task::TaskId& id);
  std::optional<engine::Stop> wait(task::TaskKey key, std::int64_t after = 0);
  // Waits for a stop after `accepted.before`, as the client of that submission would.
  std::future<std::optional<engine::Stop>> wait_later(const engine::Accepted& accepted);
  std::vector<task::Event> log(task::TaskKey key);
  // Waits until so many turns have a slot; false on timeout. A slot is released after its turn's state was
  // stored and the agent's execution destroyed.
  bool wait_running(int turns);

  static task::Submission message(const std::string& text, const std::string& id = {});
  static task::TaskRef ref(const std::string& id) { return {task::kAnonymous, {"scripted"}, {id}}; }

 private:
  void build();

  const Options options_;
  const std::filesystem::path folder_;
  const base::SystemClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<store::FaultyStore> faulty_;
  ScriptedExecutor* scripted_ = nullptr;
  ScriptedExecutor* helper_ = nullptr;
  std::unique_ptr<agents::Catalogue> catalogue_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace baton::test
