#include "app/serve.h"
#include "agents/command/command_executor.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "app/descriptors.h"
#include "app/service.h"
#include "app/signals.h"
#include "app/version.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/loggable.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::app {
namespace {

bool is_in_memory(const Config& config) {
  return config.store.path == ":memory:";
}

int cannot_start(const base::Error& error) {
  std::cerr << "baton: " << (error.for_log.empty() ? error.for_caller : error.for_log) << std::endl;
  return 1;
}

// The two faces of one store.
struct OpenStore {
  std::unique_ptr<store::TaskStore> tasks;
  store::DeliveryStore* deliveries = nullptr;
};

template <class Store>
OpenStore faces_of(std::unique_ptr<Store> store) {
  store::DeliveryStore* const deliveries = store.get();
  return {std::move(store), deliveries};
}

base::Result<OpenStore> open_store(const Config& config, const base::Clock& clock) {
  store::SqliteOptions options = config.store;
  if (is_in_memory(config)) {
    spdlog::warn("the database is in memory: what it holds ends with this program");
    return faces_of(std::make_unique<store::MemoryStore>(
        clock, store::MemoryOptions{.send_retention = options.send_retention}));
  }
  options.on_upgrade = [&](int from, int to) {
    spdlog::info("upgrading {} from schema {} to {}: a large database takes a while", config.store.path, from,
                 to);
  };
  auto store = store::SqliteStore::open(options, clock);
  if (!store) return base::fail(std::move(store.error()));
  return faces_of(std::move(*store));
}

void log_agents(const agents::Catalogue& catalogue) {
  const agents::Agent* const main = catalogue.default_agent();
  std::string names;
  for (const agents::Agent* agent : catalogue.all()) {
    names.append(names.empty() ? "" : ", ").append(agent->name.value);
    if (agent == main) names += " (default)";
  }
  spdlog::info("agents: {}", names);
  for (const agents::Catalogue::CardReport& odd : catalogue.warnings())
    base::log_warn({{"agent", odd.folder}}, "{}", odd.report);
  for (const agents::Catalogue::CardReport& one : catalogue.left_out()) {
    std::istringstream lines(one.report);
    for (std::string line; std::getline(lines, line);)
      base::log_error({{"agent", one.folder}}, "left out, its card is wrong: {}", line);
  }
  if (!main) {
    spdlog::warn(
        "no card says \"default\": true, so nothing is served at the root URLs; "
        "each agent is at /agents/<name>/");
  }
}

// Who may call, for the log, without secrets.
std::string callers_of(const Config& config) {
  std::string text = config.anonymous_allowed() ? "anybody, without a token" : "";
  for (const Token& token : config.tokens) {
    text.append(text.empty() ? "" : "; ").append(base::loggable(token.caller)).append(" with a token");
    for (const std::string& agent : token.agents)
      text.append(&agent == &token.agents.front() ? " for " : ", ").append(base::loggable(agent));
  }
  return text;
}

void log_start(const Config& config, const agents::Catalogue& catalogue) {
  std::error_code ignored;
  const std::string& path = config.store.path;
  const std::string file = std::filesystem::absolute(path, ignored).string();
  spdlog::info("baton {}, database {}", kVersion, is_in_memory(config) ? path : file);
  log_agents(catalogue);
  spdlog::info("callers: {}", callers_of(config));
}

}  // namespace

int serve(const Config& config, const std::function<LoadedConfig()>& read_again) {
  set_up_logging(config.log);
  const sigset_t signals = block_service_signals();
  const std::size_t descriptors = raise_descriptor_limit();

  const base::SystemClock clock;
  // Steady, so that setting the clock does not disturb retries, retention or the order of a log.
  const base::SteadyClock steady(clock);
  const auto store = open_store(config, steady);
  if (!store) return cannot_start(store.error());
  agents::ProcessHost processes(true);
  if (config.cards.verbose_errors)
    spdlog::warn("--dev: callers see what agents write to standard error; not for production");
  auto catalogue =
      agents::Catalogue::load(config.agents_folder, agents::command_executors(processes), {}, config.cards);
  if (!catalogue) return cannot_start(catalogue.error());
  log_start(config, *catalogue);
  Service service(config, {clock, steady, *store->tasks, *store->deliveries, processes, *catalogue},
                  http_limits(config, *catalogue, descriptors));
  const auto served = service.run(read_again, signals);
  return served ? 0 : cannot_start(served.error());
}

}  // namespace baton::app
