#include "cli/serve.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "agents/process_host.h"
#include "base/loggable.h"
#include "base/steady_clock.h"
#include "cli/descriptors.h"
#include "cli/logging.h"
#include "cli/version.h"
#include "engine/engine.h"
#include "grpc/grpc_server.h"
#include "notify/notifier.h"
#include "server/access.h"
#include "server/answers.h"
#include "server/router.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::cli {
namespace {

// The connection of a reader that takes nothing is closed well before.
constexpr std::chrono::seconds kAnswerWait{60};
constexpr std::size_t kAnswersWaiting = 1'000;
// Of pages of logs that were read for streams and are not sent yet.
constexpr std::size_t kPagesMax = 64 << 20;

net::AddressPolicy webhook_policy(const WebhookSettings& webhooks) {
  return {webhooks.allow_private, webhooks.allow_metadata, webhooks.allow_low_ports};
}

engine::EngineOptions engine_options(const Config& config) {
  engine::EngineOptions options;
  options.slots = config.engine.slots;
  options.queue_max = config.engine.queue_max;
  options.reply_wait = config.engine.reply_wait;
  options.drain_grace = config.engine.drain_grace;
  options.conversation_max = config.engine.conversation_max;
  options.hang_up_grace = config.chat.hang_up_grace;
  options.delegation_depth_max = config.engine.delegate_depth_max;
  options.part_bytes_max = config.limits.part_max;
  options.artifact_bytes_max = config.limits.artifact_max;
  options.task_bytes_max = config.limits.task_max;
  options.history_max = config.limits.history_max;
  options.push_configs_max = config.limits.webhooks_max;
  options.push_enabled = config.webhooks.enabled;
  options.check_push = [policy = webhook_policy(config.webhooks)](const task::PushConfig& push) {
    return notify::check_webhook(push, policy);
  };
  return options;
}

notify::NotifierOptions notifier_options(const Config& config) {
  notify::NotifierOptions options;
  options.enabled = config.webhooks.enabled;
  options.timeout = config.webhooks.timeout;
  options.resolve_timeout = config.webhooks.resolve_timeout;
  options.senders = config.webhooks.senders;
  options.senders_per_host = config.webhooks.senders_per_host;
  options.retry.first = config.webhooks.retry_first;
  options.retry.max = config.webhooks.retry_max;
  options.give_up_after = config.webhooks.give_up_after;
  options.policy = webhook_policy(config.webhooks);
  return options;
}

server::ChatOptions chat_options(const ChatSettings& chat) {
  using SendMessage = server::ChatOptions::SendMessage;
  server::ChatOptions options;
  if (chat.send_message == "ag-ui") options.send_message = SendMessage::ag_ui;
  if (chat.send_message == "ag-kit") options.send_message = SendMessage::ag_kit;
  options.response_event = chat.response_event;
  options.answers_max = chat.answers_max;
  options.old_reasoning = chat.old_reasoning;
  return options;
}

std::vector<server::Token> tokens_of(const Config& config) {
  std::vector<server::Token> tokens;
  for (const Token& token : config.tokens) {
    tokens.push_back({token.secret, task::Caller{token.caller}, token.agents});
  }
  return tokens;
}

// Sets who may call and, if that is more than one caller, each one's share.
void admit(const Config& config, const server::http::Limits& limits, server::ServerOptions& options,
           engine::Engine& engine) {
  std::set<std::string> callers;
  for (const Token& token : config.tokens) callers.insert(token.caller);
  if (config.anonymous_allowed()) callers.insert(task::kAnonymous.value);
  const auto share_of = [&](int all) {
    if (callers.size() < 2) return 0;
    return std::max(1, static_cast<int>(config.engine.queue_share * all));
  };
  options.tokens = tokens_of(config);
  options.streams.set_max(share_of(limits.streams_max));
  options.replies.set_max(share_of(limits.connections_max));
  engine.set_caller_queue_max(share_of(config.engine.queue_max));
}

server::ServerOptions server_options(const Config& config) {
  server::ServerOptions options;
  options.anonymous = config.anonymous_allowed();
  options.cors = config.cors.enabled;
  options.cors_origins = config.cors.origins;
  options.trusts_method_names = config.a2a.trust_method_names;
  options.chat = chat_options(config.chat);
  options.public_url = config.public_url;
  options.answer_bytes_max = config.limits.answer_max;
  options.any_host = config.hosts.empty() && !config.on_loopback();
  options.hosts = config.hosts;
  options.proxies = config.proxies;
  return options;
}

agents::CommonRules common_rules(const Config& config) {
  if (config.dev) spdlog::warn("--dev: callers see what agents write to standard error; not for production");
  return {config.token_variables, config.dev, config.strict};
}

std::string more_metrics(const notify::Notifier& notifier, const store::DeliveryStore& deliveries) {
  const notify::Notifier::Counters sent = notifier.counters();
  std::string out =
      "# HELP baton_webhooks_total Webhook attempts since start, by outcome.\n"
      "# TYPE baton_webhooks_total counter\n";
  const auto add = [&](const char* name, std::int64_t value) {
    out += std::string(name) + " " + std::to_string(value) + "\n";
  };
  add("baton_webhooks_total{outcome=\"delivered\"}", sent.delivered);
  add("baton_webhooks_total{outcome=\"failed\"}", sent.failed_attempts);
  add("baton_webhooks_total{outcome=\"given_up\"}", sent.given_up);
  if (const auto counts = deliveries.delivery_counts()) {
    out += "# HELP baton_webhooks_waiting Webhooks not yet delivered.\n# TYPE baton_webhooks_waiting gauge\n";
    add("baton_webhooks_waiting", counts->waiting);
  }
  return out;
}

int cannot_start(const base::Error& error) {
  std::cerr << "baton: " << (error.for_log.empty() ? error.for_caller : error.for_log) << std::endl;
  return 1;
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
    spdlog::warn("agent={} {}", base::loggable_word(odd.folder), odd.report);
  for (const agents::Catalogue::CardReport& one : catalogue.left_out()) {
    std::istringstream lines(one.report);
    for (std::string line; std::getline(lines, line);)
      spdlog::error("agent={} left out, its card is wrong: {}", base::loggable_word(one.folder), line);
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
  const auto database = std::filesystem::absolute(config.db, ignored);
  spdlog::info("baton {}, database {}", kVersion, database.string());
  log_agents(catalogue);
  spdlog::info("callers: {}", callers_of(config));
}

// The signals that end the program or make it reload its files. They are blocked in every thread, and one
// thread waits for them.
sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

std::string address_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// Returns where gRPC listens; empty if it is off. Call before the router opens: it writes the options.
base::Result<std::string> start_grpc(const Config& config, grpc::GrpcServer& grpc,
                                     server::ServerOptions& options) {
  if (config.grpc.port == GrpcSettings::kOff) return std::string();
  const auto port = grpc.start(config.host, config.grpc.port);
  if (!port) return base::fail(port.error());
  const std::string& shown = config.grpc.public_address;
  options.grpc_address = shown.empty() ? ":" + std::to_string(*port) : shown;
  return address_of(config.host, *port);
}

// Open requests go on while the turns drain; new ones are answered with a refusal. A second signal ends the
// grace.
void drain(engine::Engine& engine, server::http::HttpServer& http, grpc::GrpcServer& grpc,
           const sigset_t& signals) {
  constexpr timespec kLook{0, 50'000'000};
  std::atomic<bool> done{false}, hurried{false};
  std::jthread impatience([&] {
    while (!done && !hurried) {
      const int signal = sigtimedwait(&signals, nullptr, &kLook);
      if (signal != SIGTERM && signal != SIGINT) continue;
      spdlog::warn("asked to stop again: turns that still run go on after the next start");
      hurried = true;
      engine.hurry();
    }
  });
  http.drain();
  grpc.drain();
  engine.drain();
  // By now all requests that waited for a turn are being answered.
  const std::chrono::milliseconds grace(hurried ? 100 : 1'000);
  std::jthread closing([&] { http.stop(grace); });
  grpc.stop(grace);
  closing.join();
  done = true;
}

// At SIGHUP.
void reload(const Config& config, const std::function<LoadedConfig()>& read_again,
            const server::http::Limits& limits, engine::Engine& engine, agents::Catalogue& catalogue,
            agents::ProcessHost& processes, server::ServerOptions& options) {
  const LoadedConfig loaded = read_again();
  std::vector<std::string> problems = loaded.problems;
  // Whether there are any tokens decides whether callers need one.
  if (problems.empty() && loaded.config.tokens.empty() != config.tokens.empty()) {
    problems.emplace_back("the first token, or none any more, needs a restart");
  }
  // Agents must not get these variables, and agents whose cards are unchanged keep their environment.
  if (problems.empty() && loaded.config.token_variables != config.token_variables) {
    problems.emplace_back("another token_env needs a restart");
  }
  for (const std::string& problem : problems) spdlog::error("SIGHUP: {}", problem);
  if (!problems.empty()) return spdlog::error("SIGHUP: nothing was changed");
  const auto cards = catalogue.reload(config.agents, processes, {}, common_rules(config));
  if (!cards) {
    spdlog::error("SIGHUP: {}", cards.error().for_log);
    return spdlog::error("SIGHUP: nothing was changed");
  }
  for (const agents::Catalogue::CardReport& wrong : cards->wrong) {
    spdlog::error("SIGHUP: a card is wrong, and its agent as it was: {}", wrong.report);
  }
  engine.catalogue_changed();
  admit(loaded.config, limits, options, engine);
  spdlog::info("SIGHUP: {} tokens are good now; of the agents {} are new, {} changed, {} gone",
               loaded.config.tokens.size(), cards->added, cards->changed, cards->removed);
}

// Listens, serves until a signal, drains.
int run(const Config& config, const std::function<LoadedConfig()>& read_again,
        const server::http::Limits& limits, engine::Engine& engine, agents::Catalogue& catalogue,
        agents::ProcessHost& processes, server::ServerOptions& options, server::Router& router,
        notify::Notifier& notifier, notify::WebhookLinks& links, const sigset_t& signals) {
  const auto handle = [&](std::shared_ptr<server::http::Exchange> exchange) {
    router.handle(std::move(exchange));
  };
  server::http::Hooks hooks;
  hooks.answer_at_once = [&](const server::http::Request& request) {
    return router.health(request.method, request.path);
  };
  hooks.may_send_body = [&](const server::http::Request& head) {
    return server::may_send_body(options, head);
  };
  server::http::HttpServer http(limits, handle, server::plain_error, std::move(hooks));
  const auto default_agent = [&catalogue] {
    const agents::Agent* const main = catalogue.default_agent();
    return main ? main->name.value : std::string();
  };
  grpc::GrpcServer grpc(default_agent, limits, handle, config.grpc,
                        [&](const server::http::Request& head) { return router.admit(head); });
  router.set_http_counts([&http] { return http.counts(); });
  const auto recovered = engine.start();
  if (!recovered) return cannot_start(recovered.error());
  const auto grpc_address = start_grpc(config, grpc, options);
  if (!grpc_address) return cannot_start(grpc_address.error());
  const auto port = http.start(config.host, config.port);
  if (!port) return cannot_start(port.error());
  const std::string url = "http://" + address_of(config.host, *port);
  router.open(url);
  if (links.url.empty()) links.url = url;
  if (links.url.ends_with('/')) links.url.pop_back();
  notifier.start();
  router.set_ready(true);
  if (*recovered > 0) spdlog::info("{} turns of an earlier run are taken up again", *recovered);
  std::cout << "listening on " << url << std::endl;
  if (!grpc_address->empty()) std::cout << "grpc listening on " << *grpc_address << std::endl;

  for (int signal = SIGHUP; signal == SIGHUP;) {
    sigwait(&signals, &signal);
    if (signal == SIGHUP) reload(config, read_again, limits, engine, catalogue, processes, options);
  }
  spdlog::info("stopping: no new work, running turns may finish");
  router.set_ready(false);
  drain(engine, http, grpc, signals);
  engine.settle();
  notifier.stop();
  spdlog::info("stopped");
  return 0;
}

}  // namespace

int serve(const Config& config, const std::function<LoadedConfig()>& read_again) {
  set_up_logging(config.log.level, config.log.format);
  const sigset_t signals = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is treated as a full disk
  const std::size_t descriptors = raise_descriptor_limit();

  // Built in the order of need; taken down in reverse.
  const base::SystemClock clock;
  // Steady, so that setting the clock does not disturb retries, retention or the order of a log.
  const base::SteadyClock steady(clock);
  store::SqliteOptions store_options;
  store_options.path = config.db;
  store_options.send_retention = config.engine.send_retention;
  store_options.on_flush_failed = [](const base::Error& error) {
    spdlog::critical("{}; ending, as nothing more can be promised", error.for_log);
    spdlog::shutdown();
  };
  store_options.on_upgrade = [&](int from, int to) {
    spdlog::info("upgrading {} from schema {} to {}: a large database takes a while", config.db, from, to);
  };
  auto store = store::SqliteStore::open(store_options, steady);
  if (!store) return cannot_start(store.error());
  agents::ProcessHost processes(true);
  auto catalogue = agents::Catalogue::load(config.agents, processes, {}, common_rules(config));
  if (!catalogue) return cannot_start(catalogue.error());
  log_start(config, *catalogue);
  const server::http::Limits limits = http_limits(config, *catalogue, descriptors);
  // Filled in once the address is known, before webhooks are rendered.
  notify::WebhookLinks links{config.limits.answer_max, config.public_url};
  const notify::Render render = [&links](const store::TaskStore& tasks, const store::Delivery& delivery) {
    return notify::render_a2a(tasks, delivery, links);
  };
  notify::Notifier notifier(**store, **store, steady, notifier_options(config), render);
  engine::Engine engine(**store, *catalogue, clock, engine_options(config), [&notifier] { notifier.wake(); });
  server::ServerOptions options = server_options(config);
  admit(config, limits, options, engine);
  base::WorkerPool readers("log-read", 2, static_cast<std::size_t>(limits.connections_max) + 1);
  server::AnswerBudget answers(config.limits.answers_max, kAnswersWaiting, kAnswerWait, readers,
                               engine.timers());
  server::AnswerBudget pages(kPagesMax, static_cast<std::size_t>(limits.connections_max) + 1, kAnswerWait,
                             readers, engine.timers());
  const server::Services services{
      engine,   *catalogue, options, readers, [&] { return more_metrics(notifier, **store); },
      &answers, &pages};
  server::Router router(services);
  const int code = run(config, read_again, limits, engine, *catalogue, processes, options, router, notifier,
                       links, signals);
  readers.stop();  // its remaining work uses the router
  return code;
}

}  // namespace baton::cli
