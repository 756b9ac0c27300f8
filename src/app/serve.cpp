#include "app/serve.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "agents/cards/catalogue.h"
#include "agents/cards/files_digest.h"
#include "app/config.h"
#include "app/database_url.h"
#include "app/executors.h"
#include "app/exit_deadline.h"
#include "app/service.h"
#include "app/signals.h"
#include "app/signing_keys.h"
#include "app/supervisor.h"
#include "app/version.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/loggable.h"
#include "base/text.h"
#include "http/http_server.h"
#include "http/tls/identity.h"
#include "outbound/breakers.h"
#include "outbound/call_counts.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::app {
namespace {

// They read prompts and keys from files, write requests and decode long answers.
constexpr int kTurnThreads = 4, kDecodingThreads = 2;

struct StopsLoop {
  base::EventLoop& loop;
  ~StopsLoop() { loop.stop(); }
};

bool is_in_memory(const StoreOptions& options) {
  return options.database == ":memory:";
}

int cannot_start(const base::Error& error) {
  std::cerr << "baton: " << (error.for_log.empty() ? error.for_caller : error.for_log) << std::endl;
  return 1;
}

// The interfaces of one store.
struct OpenStore {
  std::unique_ptr<store::TaskStore> tasks;
  store::DeliveryStore* deliveries = nullptr;
  store::RetentionStore* retention = nullptr;
  store::OperatorStore* operators = nullptr;
  std::string server_name = {};
  store::Peers* peers = nullptr;  // null: the store is not shared
};

template <class Store>
OpenStore faces_of(std::unique_ptr<Store> store) {
  store::DeliveryStore* const deliveries = store.get();
  store::RetentionStore* const retention = store.get();
  store::OperatorStore* const operators = store.get();
  return {std::move(store), deliveries, retention, operators};
}

template <class Store>
base::Result<OpenStore> named(base::Result<std::unique_ptr<Store>> store) {
  if (!store) return base::fail(std::move(store.error()));
  const std::string name = (*store)->server_name();
  store::Peers* peers = nullptr;
  if constexpr (requires { (*store)->peers(); }) peers = &(*store)->peers();
  OpenStore faces = faces_of(std::move(*store));
  faces.server_name = name;
  faces.peers = peers;
  return faces;
}

bool is_asked_to_stop() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

// Returns the function that decides whether a standby keeps waiting, and logs the first wait. Null if this
// node is not a standby.
std::function<bool()> waiting(const StoreOptions& options) {
  if (!options.postgres_standby) return nullptr;
  return [has_said = false, name = shown_database(options.database)]() mutable {
    if (!std::exchange(has_said, true))
      spdlog::info("standby: waiting for {}, which is unavailable or in use by another Baton", name);
    return !is_asked_to_stop();
  };
}

// Ends the program, because its memory has changes that the database does not have or will never get.
void end_without_store(const std::string& why) {
  spdlog::critical("the server exits: {}", why);
  spdlog::shutdown();
  std::_Exit(EXIT_FAILURE);
}

base::Result<OpenStore> open_store(const StoreOptions& options, const base::Clock& clock, bool is_dev) {
  const auto on_upgrade = [&](int from, int to) {
    spdlog::info("upgrading {} from schema {} to {}; this can take a while for a large database",
                 shown_database(options.database), from, to);
  };
  if (is_in_memory(options)) {
    spdlog::log(is_dev ? spdlog::level::debug : spdlog::level::warn,
                "the database is in memory: all tasks are lost when the server stops");
    return faces_of(std::make_unique<store::MemoryStore>(
        clock, store::MemoryOptions{.send_retention = options.send_retention}));
  }
  if (is_postgres(options.database)) {
    return named(store::PostgresStore::open({.url = options.database,
                                             .send_retention = options.send_retention,
                                             .allows = options.postgres_allows,
                                             .on_upgrade = on_upgrade,
                                             .waits = waiting(options),
                                             .name = options.name_of_node(),
                                             .version = std::string(kVersion),
                                             .on_lost = end_without_store},
                                            clock));
  }
  return named(store::SqliteStore::open(
      {.path = options.database, .on_upgrade = on_upgrade, .send_retention = options.send_retention}, clock));
}

// Returns the location of the tasks, for the log.
std::string place_of(const StoreOptions& options) {
  std::error_code ignored;
  if (is_in_memory(options) || is_postgres(options.database)) return shown_database(options.database);
  return std::filesystem::absolute(options.database, ignored).string();
}

void log_agents(const agents::Catalogue& catalogue, bool is_dev) {
  const agents::Agent* const main = catalogue.default_agent();
  std::string names;
  for (const agents::Agent* agent : catalogue.all()) {
    names.append(names.empty() ? "" : ", ").append(agent->name.value);
    if (agent == main) names += " (default)";
  }
  spdlog::info("agents: {}", names);
  for (const agents::Catalogue::CardReport& odd : catalogue.warnings())
    base::log_warn({{"agent", odd.folder}}, "{}", odd.text());
  for (const agents::Catalogue::CardReport& one : catalogue.left_out()) {
    std::istringstream lines(one.text());
    for (std::string line; std::getline(lines, line);)
      base::log_error({{"agent", one.folder}}, "left out, its card is invalid: {}", line);
  }
  if (!main && !is_dev) {
    spdlog::warn(
        "no agent card has \"default\": true, so the root URLs serve no agent; each agent is at "
        "/agents/<name>/");
  }
}

// Returns the allowed callers, for the log, without secrets.
std::string callers_of(const Config& config) {
  std::string text = config.anonymous_allowed() ? "anyone, without a token" : "";
  for (const ConfiguredToken& token : config.tokens) {
    text.append(text.empty() ? "" : "; ").append(base::loggable(token.caller));
    text += token.certificate.empty() ? " with a token" : " with a certificate";
    for (const std::string& agent : token.agents)
      text.append(&agent == &token.agents.front() ? " for " : ", ").append(base::loggable(agent));
  }
  if (config.api_keys.value_or(false)) text += text.empty() ? "those with API keys" : "; those with API keys";
  return text;
}

void log_start(const Config& config, const agents::Catalogue& catalogue) {
  // An author has neither chosen the one nor the other.
  const auto level = config.cards.dev ? spdlog::level::debug : spdlog::level::info;
  spdlog::log(level, "baton {}, database {}", kVersion, place_of(config.store));
  log_agents(catalogue, config.cards.dev);
  spdlog::log(level, "callers: {}", callers_of(config));
}

// Returns the number of descriptors that connections must leave free. Without them the server cannot start
// agents, read the database or send webhooks. Connections can wait to be accepted instead.
std::size_t descriptor_reserve(const Config& config, const agents::Catalogue& catalogue) {
  constexpr std::size_t kBase = 64;      // the log, listeners, event loops, libraries
  constexpr std::size_t kProcess = 4;    // three streams and the process itself
  constexpr std::size_t kStarting = 8;   // the pipes of the process that is being started
  constexpr std::size_t kDatabase = 32;  // a few connections with three files each
  constexpr std::size_t kWebhook = 4;    // a connection, and a DNS lookup
  std::size_t turns = 0, workers = 0;
  for (const agents::Agent* agent : catalogue.all()) {
    const agents::AgentSettings& settings = agent->settings;
    const bool is_worker = settings.mode == agents::AgentSettings::Mode::worker;
    // Doubled, because replaced workers run until their turns have ended.
    if (is_worker) workers += 2 * static_cast<std::size_t>(settings.workers);
    if (!is_worker) turns += static_cast<std::size_t>(settings.concurrency);
  }
  turns = std::min(turns, static_cast<std::size_t>(config.engine.slots));
  return kBase + kDatabase + kStarting + kProcess * (turns + workers) +
         kWebhook * static_cast<std::size_t>(config.webhooks.senders);
}

// Raises the limit on open files to the system's maximum, and returns the new limit.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

// Limits callers' streams, so that connections remain for requests and for operators' streams.
void bound_streams(http::Limits& limits) {
  constexpr int kRequests = 16;
  const int kept = std::min(limits.reserved_streams_max + kRequests, limits.connections_max / 2);
  limits.streams_max = std::min(limits.streams_max, limits.connections_max - kept);
}

// Returns the limits of the connection layer, with no more connections than descriptors allow. Logs a warning
// if that is fewer than configured.
http::Limits http_limits(const Config& config, const agents::Catalogue& catalogue, std::size_t descriptors) {
  http::Limits limits = config.http;
  const std::size_t reserve = std::min(descriptor_reserve(config, catalogue), descriptors / 2);
  // An eighth more connections, and at most 256, are accepted only to be refused (ConnectionLoop).
  const std::size_t left = descriptors - reserve;
  std::size_t most = std::max(left - left / 9, left - std::min<std::size_t>(left, 256));
  // gRPC may have as many connections as HTTP, at two descriptors each.
  if (config.grpc_port != Config::kGrpcOff) most /= 3;
  if (static_cast<std::size_t>(limits.connections_max) > most) {
    spdlog::log(config.cards.dev ? spdlog::level::debug : spdlog::level::warn,
                "http.connections_max is lowered from {} to {}: the system allows {} open files, of which {} "
                "are reserved for agents, the database and webhooks; raise the limit (ulimit -n) to keep it",
                limits.connections_max, most, descriptors, reserve);
    limits.connections_max = static_cast<int>(most);
  }
  bound_streams(limits);
  return limits;
}

// Disables core files, which would contain tokens, secrets and callers' messages. Agents' processes inherit
// the limit. Does not use PR_SET_DUMPABLE: it makes root the owner of /proc/self, which hides data from the
// metrics of a server that does not run as root, from sanitizers and from debuggers. Keeps the hard limit, so
// that an operator can enable a core file with prlimit.
void refuse_core_dumps() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  if (setrlimit(RLIMIT_CORE, &limit) != 0)
    spdlog::warn("cannot disable core dumps, which could contain secrets");
}

// Null without certificates.
base::Result<std::unique_ptr<http::tls::Identity>> open_identity(const TlsOptions& tls) {
  if (!tls.is_on()) return std::unique_ptr<http::tls::Identity>();
  auto identity = http::tls::Identity::open(tls.files());
  if (!identity) identity.error().for_log = "tls: " + identity.error().for_log;
  return identity;
}

// Called once at the start: a changed secret needs a restart.
TraceHeaders trace_headers(const TraceOptions& options) {
  TraceHeaders headers;
  if (!options.headers_file.empty()) {
    std::ifstream file(options.headers_file);
    if (!file)
      spdlog::error("traces.headers_file: cannot read the file; traces are sent without its headers");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    headers = read_headers(std::string(base::without_mark(text)));
  }
  if (!options.headers_env.empty()) {
    const char* const text = std::getenv(options.headers_env.c_str());
    if (text == nullptr)
      spdlog::error(
          "traces.headers_env: the environment variable is not set; traces are sent without its headers");
    if (text != nullptr) std::ranges::move(read_headers(text), std::back_inserter(headers));
  }
  return headers;
}

}  // namespace

int serve(const Config& configured, const std::function<LoadedConfig()>& read_again) {
  Config config = configured;
  // An author's webhook receivers and model servers are on the same machine.
  if (config.cards.dev) config.webhooks.policy.allow_loopback = true;
  set_up_logging(config.log);
  const sigset_t signals = block_service_signals();
  const std::size_t descriptors = raise_descriptor_limit();
  refuse_core_dumps();
  const Supervisor supervisor;
  ExitDeadline exit_deadline;  // covers the destruction of everything below

  const auto identity = open_identity(config.tls);
  if (!identity) return cannot_start(identity.error());
  const auto signing_keys = read_signing_keys(config);
  if (!signing_keys) return cannot_start(signing_keys.error());
  CardChecks card_checks;
  card_checks.set(signing_keys->card_trust);
  const base::SystemClock clock;
  // A steady clock keeps retries, retention and the order of a log intact when the system clock is set.
  const base::SteadyClock steady(clock);
  const auto store = open_store(config.store, steady, config.cards.dev);
  if (!store && config.store.postgres_standby && is_asked_to_stop()) return 0;
  if (!store) return cannot_start(store.error());
  agents::ProcessHost processes(true);
  if (config.cards.dev)
    spdlog::log(config.on_loopback() ? spdlog::level::debug : spdlog::level::warn,
                "--dev is not for production: callers can see the agents' standard error");
  outbound::Breakers breakers;
  outbound::CallCounts calls;
  outbound::ByteBudget answers(config.outbound_budget);
  std::optional<base::SpanQueue> spans;
  std::optional<TraceExporter> exporter;  // outlives the service, to send its last spans
  if (!config.traces.endpoint.empty()) {
    spans.emplace(config.traces.ratio);
    exporter.emplace(*spans, config.traces.endpoint, trace_headers(config.traces),
                     TraceResource{std::string(kVersion), store->server_name}, config.traces.batch_time,
                     config.proxy, &calls);
  }
  base::SpanQueue* const traced = spans ? &*spans : nullptr;
  base::EventLoop turns("turn-loop");
  turns.start();
  // Each turn has at most one function in it.
  base::WorkerPool turn_work("turn-work", kTurnThreads, std::numeric_limits<std::size_t>::max());
  // Two that wait for memory do not keep others from what `turn_work` does.
  base::WorkerPool decoding("turn-decode", kDecodingThreads, std::numeric_limits<std::size_t>::max());
  // A turn has at most one call over gRPC, beside one that was just given up.
  base::WorkerPool callers("agent-call", 2 * config.engine.slots,
                           static_cast<std::size_t>(config.engine.slots));
  // Turns that were dropped a moment ago may still be on the loop: it stops before the pools that they use,
  // and is there until their last functions have posted their results.
  const StopsLoop stops_turns{turns};
  const agents::Catalogue* chosen_from = nullptr;
  const auto choose = [&chosen_from](const std::string& skill, const std::string& tag) {
    const agents::Agent* agent = chosen_from->find_skilled(skill, tag);
    return agent == nullptr ? std::nullopt : std::optional(agent->name.value);
  };
  const ExecutorServices services{processes,
                                  callers,
                                  {turns, turn_work, decoding},
                                  {config.outbound_origins, config.webhooks.policy, &breakers, &calls, traced,
                                   &answers, config.outbound_limits, config.proxy, card_checks.rules()},
                                  steady,
                                  choose,
                                  config.plans};
  const agents::Catalogue::Make make = executors(services);
  const std::uint64_t agent_files = config.cards.dev ? agents::files_digest(config.agents_folder) : 0;
  auto catalogue = agents::Catalogue::load(config.agents_folder, make, {}, config.cards);
  if (!catalogue) return cannot_start(catalogue.error());
  add_hidden_agents(*catalogue, services, config.cards.delegate_urls);
  chosen_from = &*catalogue;
  log_start(config, *catalogue);
  Service service(config,
                  {clock, steady, *store->tasks, *store->deliveries, *store->retention, *store->operators,
                   make, *catalogue, supervisor, exit_deadline, answers, store->server_name, breakers, calls,
                   traced, store->peers, exporter ? &*exporter : nullptr, identity->get(), agent_files},
                  http_limits(config, *catalogue, descriptors));
  service.sign_with(*signing_keys, card_checks);
  const auto served = service.run(read_again, signals);
  return served ? 0 : cannot_start(served.error());
}

}  // namespace baton::app
