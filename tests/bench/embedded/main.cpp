// Baton with an agent inside the program, like programs that embed it. It has all parts and the default
// settings of `baton serve`. The SDK servers that it is compared with have their agent inside too.
//
// usage: baton_bench_server DATABASE AGENTS_FOLDER
#include <signal.h>
#include <sys/resource.h>

#include <iostream>
#include <optional>
#include <thread>

#include "agents/command/command_executor.h"
#include "agents/command/process_host.h"
#include "app/logging.h"
#include "embedded/deeds.h"
#include "engine/engine.h"
#include "notify/notifier.h"
#include "server/pipeline/pipeline.h"
#include "server/shared/answers.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace baton::bench {
namespace {

int cannot_start(const base::Error& error) {
  std::cerr << (error.for_log.empty() ? error.for_caller : error.for_log) << std::endl;
  return 1;
}

sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

void raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int serve_until(const sigset_t& signals, engine::Engine& engine, server::Pipeline& pipeline,
                notify::Notifier& notifier) {
  const auto handle = [&](std::shared_ptr<http::Exchange> exchange) { pipeline.handle(std::move(exchange)); };
  const auto on_error = [&pipeline](const http::Request& request, int status, std::string_view reason) {
    return pipeline.connection_error(request, status, reason);
  };
  http::HttpServer http(http::Limits{}, handle, on_error, pipeline.hooks());
  pipeline.set_http_counts([&http] { return http.counts(); });
  if (const auto recovered = engine.start(); !recovered) return cannot_start(recovered.error());
  const auto port = http.start("127.0.0.1", 0);
  if (!port) return cannot_start(port.error());
  const std::string url = "http://127.0.0.1:" + std::to_string(*port);
  pipeline.open(url);
  notifier.start();
  pipeline.set_ready(true);
  std::cout << "listening on " << url << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  pipeline.set_ready(false);
  {
    std::jthread closing([&] { http.stop(std::chrono::seconds(2)); });
    engine.drain();
  }
  engine.settle();
  notifier.stop();
  return 0;
}

template <class Store>
int serve_on(Store& store, const base::Clock& clock, const sigset_t& signals,
             const std::string& agents_folder) {
  agents::ProcessHost processes;
  base::WorkerPool deeds("deeds", 2, 1000);
  const agents::Catalogue::Builtins builtins{
      {"deeds", [&](const agents::Agent&) { return std::make_unique<Deeds>(deeds); }}};
  auto catalogue = agents::Catalogue::load(agents_folder, agents::command_executors(processes), builtins);
  if (!catalogue) return cannot_start(catalogue.error());
  std::optional<notify::Notifier> notifier;
  engine::EngineWiring wiring;
  if constexpr (requires { store.peers(); }) wiring.peers = &store.peers();
  wiring.on_deliveries_written = [&notifier] {
    if (notifier) notifier->wake();
  };
  engine::Engine engine(store, store, store, *catalogue, clock, engine::EngineOptions(), std::move(wiring));
  notifier.emplace(engine.deliveries(), clock, notify::NotifierOptions(),
                   [](const notify::DeliveryQueue& queue, const store::Delivery& delivery) {
                     return notify::render_a2a(queue, delivery);
                   });
  server::ServerOptions options;
  base::WorkerPool readers("log-read", 2, static_cast<std::size_t>(http::Limits{}.connections_max) + 1);
  const server::Services services{engine, *catalogue, options, readers, {}};
  server::Pipeline pipeline(services);
  return serve_until(signals, engine, pipeline, *notifier);
}

int serve(const std::string& database, const std::string& agents_folder) {
  app::set_up_logging({});
  const sigset_t signals = block_stop_signals();
  raise_descriptor_limit();
  const base::SystemClock clock;
  const auto on = [&](auto store) {
    return store ? serve_on(**store, clock, signals, agents_folder) : cannot_start(store.error());
  };
  if (database.starts_with("postgresql://")) return on(store::PostgresStore::open({.url = database}, clock));
  return on(store::SqliteStore::open({.path = database}, clock));
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: baton_bench_server DATABASE AGENTS_FOLDER" << std::endl;
    return 2;
  }
  return baton::bench::serve(argv[1], argv[2]);
}
