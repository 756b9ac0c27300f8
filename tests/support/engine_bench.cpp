#include "support/engine_bench.h"

#include "base/id.h"
#include "support/patience.h"

namespace baton::test {
namespace {

agents::Agent agent_named(const std::string& name, const agents::AgentSettings& settings,
                          std::unique_ptr<agents::Executor> executor) {
  agents::Agent agent;
  agent.name.value = name;
  agent.card.name = name;
  agent.settings = settings;
  agent.executor = std::move(executor);
  return agent;
}

}  // namespace

engine::EngineOptions EngineBench::short_drain() {
  engine::EngineOptions options;
  options.drain_grace = std::chrono::milliseconds(200);
  options.output_delay = std::chrono::milliseconds(0);
  return options;
}

EngineBench::EngineBench(Options options)
    : options_(std::move(options)),
      folder_(std::filesystem::temp_directory_path() / ("baton-engine-" + base::random_hex(8))) {
  std::filesystem::create_directories(folder_);
  build();
}

EngineBench::~EngineBench() {
  engine_.reset();
  catalogue_.reset();
  store_.reset();
  std::filesystem::remove_all(folder_);
}

void EngineBench::build() {
  store::SqliteOptions store_options;
  store_options.path = (folder_ / "baton.db").string();
  auto opened = store::SqliteStore::open(store_options, clock_);
  if (!opened) throw std::runtime_error(opened.error().for_log);
  store_ = std::move(*opened);
  auto scripted = std::make_unique<ScriptedExecutor>();
  auto helper = std::make_unique<ScriptedExecutor>();
  scripted_ = scripted.get();
  helper_ = helper.get();
  std::vector<agents::Agent> all;
  all.push_back(agent_named("scripted", options_.settings, std::move(scripted)));
  all.push_back(agent_named("helper", options_.settings, std::move(helper)));
  catalogue_ = std::make_unique<agents::Catalogue>(std::move(all));
  faulty_ = std::make_unique<store::FaultyStore>(
      *store_, *store_, *store_, [] {}, options_.faults);
  engine_ = std::make_unique<engine::Engine>(*faulty_, *store_, *faulty_, *catalogue_, clock_,
                                             options_.engine, options_.wiring);
  if (options_.removes_from != nullptr) {
    engine_->set_retention(*options_.removes_from);
  } else if (options_.retention) {
    engine_->set_retention(*store_);
  }
  const auto started = engine_->start();
  if (!started) throw std::runtime_error(started.error().for_log);
}

void EngineBench::restart() {
  engine_.reset();
  catalogue_.reset();
  store_.reset();
  build();
}

void EngineBench::die() {
  engine_.reset();
  const auto written = store_->write(store::ProgramStops{false});
  if (!written || !store_->commit() || !store_->flush()) throw std::runtime_error("nothing can be written");
  restart();
}

base::Result<engine::Accepted> EngineBench::submit(task::Submission submission) {
  std::promise<base::Result<engine::Accepted>> promise;
  engine_->tasks().submit(std::move(submission), [&](base::Result<engine::Accepted> accepted) {
    promise.set_value(std::move(accepted));
  });
  return promise.get_future().get();
}

std::future<base::Result<task::TaskKey>> EngineBench::cancel_later(const task::TaskId& id) {
  auto promise = std::make_shared<std::promise<base::Result<task::TaskKey>>>();
  engine_->cancels().cancel(ref(id.value), [promise](base::Result<task::TaskKey> canceled) {
    promise->set_value(std::move(canceled));
  });
  return promise->get_future();
}

base::Result<task::TaskKey> EngineBench::cancel(const task::TaskId& id) {
  return cancel_later(id).get();
}

std::optional<engine::Stop> EngineBench::wait(task::TaskKey key, std::int64_t after) {
  auto promise = std::make_shared<std::promise<std::optional<engine::Stop>>>();
  engine_->reader().await_stop(key, {after}, patience(),
                               [promise](std::optional<engine::Stop> stop) { promise->set_value(stop); });
  return promise->get_future().get();
}

std::future<std::optional<engine::Stop>> EngineBench::wait_later(const engine::Accepted& accepted) {
  auto promise = std::make_shared<std::promise<std::optional<engine::Stop>>>();
  engine_->reader().await_stop(accepted.key, accepted.before, patience(),
                               [promise](std::optional<engine::Stop> stop) { promise->set_value(stop); });
  return promise->get_future();
}

std::vector<task::Event> EngineBench::log(task::TaskKey key) {
  auto events = store_->events(key, {0}, 100'000);
  return events ? std::move(*events) : std::vector<task::Event>{};
}

bool EngineBench::wait_running(int turns) {
  return eventually([&] { return engine_->counts().turns.running == turns; });
}

task::Submission EngineBench::message(const std::string& text, const std::string& id) {
  task::Submission submission;
  submission.caller = task::kAnonymous;
  submission.agent.value = "scripted";
  submission.task.value = id;
  submission.message.parts.push_back(task::Part::of_text(text));
  submission.when_unknown = task::WhenUnknown::create;
  submission.when_ended = task::WhenEnded::reopen;
  return submission;
}

}  // namespace baton::test
