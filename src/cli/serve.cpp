#include "cli/serve.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <cstdio>
#include <iostream>
#include <thread>

#include "agents/process_host.h"
#include "cli/logging.h"
#include "engine/engine.h"
#include "grpc/grpc_server.h"
#include "notify/notifier.h"
#include "server/answers.h"
#include "server/router.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::cli {
namespace {

engine::EngineOptions engine_options(const Config& config) {
  engine::EngineOptions options;
  options.slots = config.engine.slots;
  options.queue_max = config.engine.queue_max;
  options.reply_wait = config.engine.reply_wait;
  options.drain_grace = config.engine.drain_grace;
  options.conversation_max = config.engine.conversation_max;
  options.delegation_depth_max = config.engine.delegate_depth_max;
  options.part_bytes_max = config.limits.part_max;
  options.artifact_bytes_max = config.limits.artifact_max;
  options.history_max = config.limits.history_max;
  options.push_configs_max = config.limits.webhooks_max;
  options.push_enabled = config.webhooks.enabled;
  return options;
}

notify::NotifierOptions notifier_options(const Config& config) {
  notify::NotifierOptions options;
  options.enabled = config.webhooks.enabled;
  options.timeout = config.webhooks.timeout;
  options.senders = config.webhooks.senders;
  options.retry.first = config.webhooks.retry_first;
  options.retry.max = config.webhooks.retry_max;
  options.give_up_after = config.webhooks.give_up_after;
  options.policy.allow_private = config.webhooks.allow_private;
  return options;
}

server::ChatOptions chat_options(const ChatSettings& chat) {
  using SendMessage = server::ChatOptions::SendMessage;
  server::ChatOptions options;
  if (chat.send_message == "ag-ui") options.send_message = SendMessage::ag_ui;
  if (chat.send_message == "ag-kit") options.send_message = SendMessage::ag_kit;
  options.response_event = chat.response_event;
  options.hang_up_grace = chat.hang_up_grace;
  return options;
}

server::ServerOptions server_options(const Config& config) {
  server::ServerOptions options;
  for (const Token& token : config.tokens) {
    options.tokens.push_back({token.secret, task::Caller{token.caller}, token.agents});
  }
  options.anonymous = config.anonymous_allowed();
  options.cors = config.cors.enabled;
  options.cors_origins = config.cors.origins;
  options.trusts_method_names = config.a2a.trust_method_names;
  options.chat = chat_options(config.chat);
  options.public_url = config.public_url;
  return options;
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

// The signals that end the program, blocked in every thread and waited for in one.
sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

std::string address_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// Each connection is a descriptor: as many as the system lets us have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Answers where gRPC listens; nothing where it is off. Before the router opens: it writes the options.
base::Result<std::string> start_grpc(const Config& config, grpc::GrpcServer& grpc,
                                     server::ServerOptions& options) {
  if (config.grpc.port == GrpcSettings::kOff) return std::string();
  const auto port = grpc.start(config.host, config.grpc.port);
  if (!port) return base::fail(port.error());
  const std::string& shown = config.grpc.public_address;
  options.grpc_address = shown.empty() ? ":" + std::to_string(*port) : shown;
  return address_of(config.host, *port);
}

// Requests that wait for turns are answered while the turns drain.
void drain(const Config& config, engine::Engine& engine, server::http::HttpServer& http,
           grpc::GrpcServer& grpc) {
  const auto grace = config.engine.drain_grace + std::chrono::seconds(1);
  std::jthread closing([&] { http.stop(grace); });
  std::jthread closing_grpc([&] { grpc.stop(grace); });
  engine.drain();
}

// Listens, serves until a signal, drains.
int run(const Config& config, engine::Engine& engine, const agents::Catalogue& catalogue,
        server::ServerOptions& options, server::Router& router, notify::Notifier& notifier,
        const sigset_t& signals) {
  const auto handle = [&](std::shared_ptr<server::http::Exchange> exchange) {
    router.handle(std::move(exchange));
  };
  server::http::HttpServer http(config.http, handle, server::plain_error);
  grpc::GrpcServer grpc(catalogue.default_agent().name.value, config.http, handle);
  router.set_http_counts([&http] { return http.counts(); });
  const auto recovered = engine.start();
  if (!recovered) return cannot_start(recovered.error());
  const auto grpc_address = start_grpc(config, grpc, options);
  if (!grpc_address) return cannot_start(grpc_address.error());
  const auto port = http.start(config.host, config.port);
  if (!port) return cannot_start(port.error());
  const std::string url = "http://" + address_of(config.host, *port);
  router.open(url);
  notifier.start();
  router.set_ready(true);
  if (*recovered > 0) spdlog::info("{} turns of an earlier run are taken up again", *recovered);
  std::cout << "listening on " << url << std::endl;
  if (!grpc_address->empty()) std::cout << "grpc listening on " << *grpc_address << std::endl;

  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("stopping: no new work, running turns may finish");
  router.set_ready(false);
  drain(config, engine, http, grpc);
  engine.settle();
  notifier.stop();
  spdlog::info("stopped");
  return 0;
}

}  // namespace

int serve(const Config& config) {
  set_up_logging(config.log.level, config.log.format);
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is a full disk, not an end
  raise_descriptor_limit();

  // In the order of need; taken down in reverse.
  const base::SystemClock clock;
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
  auto store = store::SqliteStore::open(store_options, clock);
  if (!store) return cannot_start(store.error());
  agents::ProcessHost processes;
  auto catalogue = agents::Catalogue::load(config.agents, processes);
  if (!catalogue) return cannot_start(catalogue.error());
  notify::Notifier notifier(**store, **store, clock, notifier_options(config), notify::render_a2a);
  engine::Engine engine(**store, *catalogue, clock, engine_options(config), [&notifier] { notifier.wake(); });
  server::ServerOptions options = server_options(config);
  base::WorkerPool readers("log-read", 2, static_cast<std::size_t>(config.http.connections_max) + 1);
  const server::Services services{engine, *catalogue, options, readers,
                                  [&] { return more_metrics(notifier, **store); }};
  server::Router router(services);
  const int code = run(config, engine, *catalogue, options, router, notifier, signals);
  readers.stop();  // what it still has to do uses the router
  return code;
}

}  // namespace baton::cli
