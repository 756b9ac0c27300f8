#include "app/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <set>
#include <thread>
#include <utility>

#include "app/database_url.h"
#include "app/folder_watch.h"
#include "app/process_metrics.h"
#include "app/task_log.h"
#include "app/version.h"
#include "base/busy_time.h"
#include "server/a2a/cards.h"
#include "server/admission/access.h"
#include "server/shared/answers.h"

namespace baton::app {
namespace {

// How long an answer waits for memory. The connection of a reader that reads nothing is closed much earlier.
constexpr std::chrono::seconds kAnswerWait{60};
constexpr std::size_t kAnswersWaiting = 1'000;
// Bytes of log pages that are being read for streams.
constexpr std::size_t kPagesMax = 64 << 20;
// For operators: a few people and their consoles.
constexpr int kOperatorThreads = 2;
constexpr std::size_t kOperatorRequestsMax = 64, kOperatorPagesMax = 16 << 20;
// The last use of an API key is stored this long after it.
constexpr std::chrono::minutes kStoreUsedAfter{1};
constexpr const char* kDevOperator = "dev";

// The functions below complete the configured options with values derived from several settings.

engine::EngineOptions engine_options(const Config& config) {
  engine::EngineOptions options = config.engine;
  options.push_enabled = config.webhooks.enabled;
  return options;
}

engine::EngineWiring engine_wiring(const Config& config, const Dependencies& dependencies,
                                   std::function<void()> on_deliveries_written) {
  engine::EngineWiring wiring;
  if (!dependencies.server_name.empty()) wiring.node = dependencies.server_name;
  wiring.spans = dependencies.spans;
  wiring.peers = dependencies.peers;
  wiring.on_asked_to_drain = [] { kill(getpid(), SIGTERM); };  // like a service manager
  wiring.on_deliveries_written = std::move(on_deliveries_written);
  wiring.on_flush_failed = [](const base::Error& error) {
    spdlog::critical("{}; exiting, because new changes could be lost", error.for_log);
    spdlog::shutdown();
  };
  if (config.cards.dev)
    wiring.on_stored = [log = std::make_shared<TaskLog>()](const store::Committed& stored) {
      log->log_ends(stored);
    };
  wiring.check_push = [policy = config.webhooks.policy](const task::PushConfig& push) {
    return notify::check_webhook(push, policy);
  };
  return wiring;
}

notify::NotifierOptions webhook_options(const Config& config, const Dependencies& dependencies) {
  notify::NotifierOptions options = config.webhooks;
  options.spans = dependencies.spans;
  options.counts = &dependencies.calls;
  options.proxy = config.proxy;
  options.signing_clock = &dependencies.clock;
  return options;
}

// Null without issuers.
std::shared_ptr<server::JwtIssuers> jwt_issuers(const Config& config, const Dependencies& dependencies,
                                                engine::Engine& engine) {
  if (config.issuers.empty()) return nullptr;
  return std::make_shared<server::JwtIssuers>(
      dependencies.clock, dependencies.steady_clock,
      [&engine](std::chrono::milliseconds time, std::function<void()> work) {
        engine.after(time, std::move(work));
      });
}

// Null if they are off.
std::shared_ptr<server::ApiKeyTokens> api_key_tokens(const Config& config, const Dependencies& dependencies) {
  if (!config.accepts_api_keys()) return nullptr;
  return std::make_shared<server::ApiKeyTokens>(dependencies.clock);
}

std::shared_ptr<const server::TokenSecret> token_secret(const Config& config) {
  if (config.token_secret.empty()) return std::make_shared<const server::TokenSecret>();
  return std::make_shared<const server::TokenSecret>(config.token_secret);
}

// Null if nobody can sign in.
std::shared_ptr<server::Sessions> sessions(const Config& config, const Dependencies& dependencies,
                                           const std::shared_ptr<const server::TokenSecret>& secret) {
  if (!config.sign_in.is_on()) return nullptr;
  return std::make_shared<server::Sessions>(dependencies.clock, secret);
}

// Objects that the server's options share with others.
struct Shared {
  std::shared_ptr<server::TokenSource> jwt, api_keys;
  std::shared_ptr<server::Sessions> sessions;
  std::shared_ptr<const server::TokenSecret> token_secret;
  std::shared_ptr<const server::CardSigner> card_signer;
};

server::ServerOptions server_options(const Config& config, const Shared& shared) {
  server::ServerOptions options = config.server;
  options.jwt = shared.jwt;
  options.api_keys = shared.api_keys;
  options.sessions = shared.sessions;
  options.token_secret = shared.token_secret;
  options.card_signer = shared.card_signer;
  options.anonymous = config.anonymous_allowed();
  options.any_host = options.hosts.empty() && !config.on_loopback();
  options.version = kVersion;
  options.https = config.tls.is_on();
  options.grpc_https = config.tls.is_on() && config.tls.grpc;
  return options;
}

std::vector<server::Token> tokens_of(const Config& config) {
  std::vector<server::Token> tokens;
  for (const ConfiguredToken& token : config.tokens) {
    tokens.push_back({token.secret, task::Caller{token.caller}, token.agents, token.role,
                      token.binds_children, token.scopes, token.certificate});
  }
  return tokens;
}

server::Nodes::Self node_self(const Config& config, base::Timestamp started) {
  return {config.store.name_of_node(), std::string(kVersion), started};
}

// Its interface is known without its card.
bool is_called_without_card(const agents::Agent& agent) {
  const agents::AgentSettings& settings = agent.settings;
  return settings.executor == agents::AgentSettings::Kind::a2a && settings.endpoint.transport == "grpc" &&
         !settings.endpoint.address.empty();
}

std::set<std::string> names_of(std::initializer_list<const std::vector<std::string>*> lists) {
  std::set<std::string> names;
  for (const std::vector<std::string>* list : lists) names.insert(list->begin(), list->end());
  return names;
}

bool has_own_listener(const Config& config) {
  return config.operate_port != Config::kWithCallers;
}

// If operators have their own listener, its Host headers may differ from those of callers.
server::ServerOptions operator_options(const Config& config, const server::ServerOptions& of_callers) {
  server::ServerOptions options = of_callers;  // shares the list of tokens
  if (!has_own_listener(config)) return options;
  options.any_host = options.hosts.empty() && !server::is_loopback_host(config.operate_host);
  options.https = options.https && config.tls.operate;
  return options;
}

http::Limits operator_limits(const http::Limits& of_callers) {
  http::Limits limits = of_callers;
  limits.connections_max = std::min(limits.connections_max, 128);
  limits.streams_max = 64;
  limits.reserved_streams_max = 0;
  limits.body_max = 1 << 20;
  limits.bodies_max = 8 << 20;
  limits.unsent_max = 16 << 20;
  limits.worker_threads = 1;
  limits.work_queue_max = kOperatorRequestsMax;
  return limits;
}

// Returns the name that tells the certificate from others, for people.
std::string shown_name(const http::tls::Certificate& certificate) {
  return certificate.names().empty() ? "no host" : certificate.names().front();
}

// For /readyz: a line for each certificate. Files are not named, because anybody may ask.
std::string remarks_on(const http::tls::Identity& identity) {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(base::SystemClock().now());
  std::string lines;
  for (const http::tls::Certificate& each : identity.contexts()->certificates()) {
    const bool has_begun = each.begins() <= now;
    lines += "certificate for " + shown_name(each) + ": ";
    lines += each.ends() <= now ? "expired at " : has_begun ? "valid until " : "not valid before ";
    lines += base::to_rfc3339(has_begun ? each.ends() : each.begins()) + "\n";
  }
  return lines;
}

void add_certificates(const http::tls::Identity& identity, base::MetricsText& out) {
  out.family(
      "baton_tls_certificate_expiry_seconds", base::MetricsText::Type::gauge,
      "Time at which the certificate expires, in seconds since 1970, by its place in tls.certificates.");
  const auto contexts = identity.contexts();
  for (std::size_t i = 0; i < contexts->certificates().size(); ++i) {
    const http::tls::Certificate& each = contexts->certificates()[i];
    out.value({{"place", std::to_string(i + 1)}, {"name", shown_name(each)}},
              std::int64_t{each.ends().time_since_epoch().count()});
  }
}

std::pair<bool, bool> is_asking(const TlsOptions& tls) {
  return {!tls.client_authorities_file.empty(), tls.client_certificate_required};
}

std::string scheme_of(bool is_secure) {
  return is_secure ? "https://" : "http://";
}

std::string address_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

Service::Service(const Config& config, const Dependencies& dependencies, const http::Limits& limits)
    : config_(config),
      dependencies_(dependencies),
      limits_(limits),
      links_{config.server.answer_bytes_max, config.server.public_url},
      engine_(dependencies.store, dependencies.deliveries, dependencies.operators, dependencies.catalogue,
              dependencies.clock, engine_options(config),
              engine_wiring(config, dependencies, [this] { notifier_.wake(); })),
      notifier_(engine_.deliveries(), dependencies.steady_clock, webhook_options(config, dependencies),
                [this](const notify::DeliveryQueue& queue, const store::Delivery& delivery) {
                  return notify::render_a2a(queue, delivery, links_);
                }),
      jwt_(jwt_issuers(config, dependencies, engine_)),
      api_keys_(api_key_tokens(config, dependencies)),
      secret_(token_secret(config)),
      sessions_(sessions(config, dependencies, secret_)),
      card_signer_(std::make_shared<server::CardSigner>(config.server.public_url)),
      options_(server_options(config, {jwt_, api_keys_, sessions_, secret_, card_signer_})),
      readers_("log-read", 2, static_cast<std::size_t>(limits.connections_max) + 1,
               base::ThreadPriority::prompt),
      answers_(config.answers_bytes_max, kAnswersWaiting, kAnswerWait, readers_, engine_.timers()),
      pages_(kPagesMax, static_cast<std::size_t>(limits.connections_max) + 1, kAnswerWait, readers_,
             engine_.timers()),
      services_{engine_,
                dependencies.catalogue,
                options_,
                readers_,
                [this](base::MetricsText& out) { more_metrics(out); },
                &answers_,
                &pages_,
                &requests_,
                {dependencies.spans, config.log.access}},
      dev_token_(config.cards.dev ? base::random_hex(16) : std::string()),
      operator_options_(operator_options(config, options_)),
      operator_readers_("operate", kOperatorThreads, kOperatorRequestsMax),
      operator_pages_(kOperatorPagesMax, kOperatorRequestsMax, kAnswerWait, operator_readers_,
                      engine_.timers()),
      nodes_(dependencies.peers, engine_, dependencies.catalogue, node_self(config, dependencies.clock.now()),
             operator_readers_),
      operator_services_{engine_,
                         dependencies.catalogue,
                         operator_options_,
                         operator_readers_,
                         {},
                         nullptr,
                         &operator_pages_,
                         nullptr,
                         {}},
      operator_facts_{operator_services_,
                      engine_.operator_store(),
                      dependencies.deliveries,
                      engine_.operator_actions(),
                      engine_.bulk_jobs(),
                      nodes_,
                      std::string(kVersion),
                      dependencies.clock.now(),
                      {},
                      {}},
      operators_(operator_facts_, operator_readers_),
      pipeline_(services_) {
  pipeline_.set_nodes(&nodes_);
  if (dependencies_.identity != nullptr)
    pipeline_.set_remarks([this] { return remarks_on(*dependencies_.identity); });
  pipeline_.set_operators(&operators_, &operator_options_, !has_own_listener(config));
  if (sessions_ && dependencies.peers != nullptr && config.token_secret.empty())
    spdlog::warn("sign-in: without token_secret_file no other node accepts the sessions of this one");
  if (sessions_) pipeline_.set_sign_in(&sign_in_.emplace(config, dependencies, *this).pages);
  admit(config);
  if (api_keys_) {
    api_keys_->set_on_used([this] { engine_.after(kStoreUsedAfter, [this] { store_used_keys(); }); });
    engine_.api_keys().set_took([this](const engine::ApiKeys::Keys& keys) { take_api_keys(keys); });
  }
  if (!jwt_) return;
  // One network may have as many tokens waiting as requests may wait for a worker.
  token_checks_.emplace("token-check", 1, 2 * limits.work_queue_max);
  jwt_->set_apart([this](const std::string& owner, std::function<void()> work) {
    return token_checks_->try_submit(owner, std::move(work));
  });
  issuer_keys_.emplace(*jwt_, config.proxy, dependencies.calls);
}

Service::SignIn::SignIn(const Config& config, const Dependencies& dependencies, const Service& service)
    : provider(dependencies.steady_clock, config.proxy, dependencies.calls),
      pages({*service.sessions_, *service.jwt_, provider, pool, dependencies.clock, service.secret_}) {}

// Drains the engine before the notifier is destroyed, because the engine wakes it.
Service::~Service() {
  engine_.drain();
}

base::Result<void> Service::run(const std::function<LoadedConfig()>& read_again, const sigset_t& signals) {
  const auto result = [&] {
    const auto handle = [&](std::shared_ptr<http::Exchange> exchange) {
      pipeline_.handle(std::move(exchange));
    };
    const auto error = [&](const http::Request& request, int status, std::string_view reason) {
      return pipeline_.connection_error(request, status, reason);
    };
    http::HttpServer http(limits_, handle, error, pipeline_.hooks());
    const auto default_agent = [&] {
      const agents::Agent* const main = dependencies_.catalogue.default_agent();
      return main ? main->name.value : std::string();
    };
    server::grpc::GrpcLimits grpc_limits = config_.grpc;
    grpc_limits.key_header = options_.key_header;
    server::grpc::GrpcServer grpc(
        default_agent, limits_, [this](const http::Request& head) { return pipeline_.admit(head); },
        grpc_limits, &server::a2a::run,
        {[this](const http::Request& head) { return server::has_quick_token(options_, head); },
         [this](const http::Request& head, std::function<void()> done) {
           return pipeline_.await(head, std::move(done));
         }});
    http::HttpServer operators(
        operator_limits(limits_),
        [&](std::shared_ptr<http::Exchange> exchange) { pipeline_.handle_operator(std::move(exchange)); },
        server::Pipeline::operator_error, pipeline_.hooks());
    return serve({http, grpc, operators}, read_again, signals);
  }();
  if (jwt_) jwt_->stop();
  if (token_checks_) token_checks_->stop();
  operator_readers_.stop();
  if (sign_in_) {
    sign_in_->provider.stop();
    sign_in_->pool.stop();
  }
  if (grpc_relay_) grpc_relay_->stop();
  readers_.stop();  // their remaining work uses the pipeline
  return result;
}

base::Result<void> Service::serve(const Servers& servers, const std::function<LoadedConfig()>& read_again,
                                  const sigset_t& signals) {
  const auto http_counts = [&http = servers.http] { return http.counts(); };
  pipeline_.set_http_counts(http_counts);
  operator_facts_.http_counts = http_counts;
  engine_.set_retention(dependencies_.retention);
  const auto recovered = engine_.start();
  if (!recovered) return base::fail(recovered.error());
  const auto grpc_address = start_grpc(servers.grpc);
  if (!grpc_address) return base::fail(grpc_address.error());
  const auto operators_url = start_operators(servers.operators);
  if (!operators_url) return base::fail(operators_url.error());
  const auto port = servers.http.start(config_.host, config_.port, dependencies_.identity);
  if (!port) return base::fail(port.error());
  const std::string url = scheme_of(config_.tls.is_on()) + address_of(config_.host, *port);
  pipeline_.open(url);
  if (links_.url.empty()) links_.url = url;
  if (links_.url.ends_with('/')) links_.url.pop_back();
  notifier_.start();
  nodes_.start();
  pipeline_.set_ready(true);
  look_at_cards();
  if (*recovered > 0) spdlog::info("resuming unfinished turns of an earlier run: {}", *recovered);
  print_addresses(url, *grpc_address, *operators_url);
  dependencies_.supervisor.is_ready();
  keep_alive();

  if (dependencies_.identity != nullptr) certificates_.emplace(*dependencies_.identity);
  std::optional<FolderWatch> authors;
  if (config_.cards.dev)
    authors.emplace(config_.agents_folder, dependencies_.agent_files, [] { kill(getpid(), SIGHUP); });
  for (int signal = SIGHUP; signal == SIGHUP;) {
    sigwait(&signals, &signal);
    if (signal != SIGHUP) continue;
    dependencies_.supervisor.is_reloading();
    reload(read_again());
    dependencies_.supervisor.is_ready();
  }
  certificates_.reset();
  dependencies_.supervisor.is_stopping();
  dependencies_.exit_deadline.arm(config_.engine.drain_grace);
  spdlog::info("stopping: accepting no new work; running turns may finish");
  if (api_keys_) store_used_keys();
  nodes_.drain();
  pipeline_.set_ready(false);
  drain(servers, signals);
  engine_.settle();
  dependencies_.exit_deadline.is_settled();
  notifier_.stop();
  spdlog::info("stopped");
  return {};
}

// Tells the supervisor that the program is alive, for as long as the engine's timers fire.
void Service::keep_alive() {
  const auto pause = dependencies_.supervisor.watchdog();
  if (!pause) return;
  dependencies_.supervisor.is_alive();
  engine_.after(*pause, [this] { keep_alive(); });
}

// Prints the addresses, for people and tests.
void Service::print_addresses(const std::string& url, const std::string& grpc,
                              const std::string& operators) const {
  std::cout << "listening on " << url << std::endl;
  if (!grpc.empty()) std::cout << "grpc listening on " << grpc << std::endl;
  if (!operators.empty()) std::cout << "operate listening on " << operators << std::endl;
  if (dev_token_.empty()) return;
  std::string send = R"(baton send "Hello")";
  if (url != "http://127.0.0.1:8080") send += " --url " + url;
  if (dependencies_.catalogue.default_agent() == nullptr && !dependencies_.catalogue.all().empty())
    send += " --agent " + dependencies_.catalogue.all().front()->name.value;
  if (config_.server.chat.page) std::cout << "chat " << url << "/chat" << std::endl;
  std::cout << "console " << (operators.empty() ? url : operators) << "/console#token=" << dev_token_
            << std::endl;
  std::cout << "send " << send << std::endl;
}

// Returns the URL of the operators' own listener; empty if they share the callers'.
base::Result<std::string> Service::start_operators(http::HttpServer& operators) {
  if (!has_own_listener(config_)) return std::string();
  const bool is_secure = operator_options_.https;
  const auto port = operators.start(config_.operate_host, config_.operate_port,
                                    is_secure ? dependencies_.identity : nullptr);
  if (!port) return base::fail(port.error());
  return scheme_of(is_secure) + address_of(config_.operate_host, *port);
}

// Returns the address of the gRPC listener; empty if gRPC is off. Call before the pipeline opens, because
// this changes the options.
base::Result<std::string> Service::start_grpc(server::grpc::GrpcServer& grpc) {
  if (config_.grpc_port == Config::kGrpcOff) {
    options_.grpc_address.clear();
    return std::string();
  }
  const bool is_secure = options_.grpc_https;
  const auto port = grpc.start(config_.host, config_.grpc_port, is_secure ? dependencies_.identity : nullptr);
  if (!port) return base::fail(port.error());
  if (options_.grpc_address.empty()) options_.grpc_address = ":" + std::to_string(*port);
  if (GrpcRelay::available()) {
    grpc_relay_.emplace(config_.host, *port, is_secure);
    operator_facts_.grpc = [this](auto call, auto on_message, auto on_end) {
      return grpc_relay_->start(std::move(call), std::move(on_message), std::move(on_end));
    };
  }
  return (is_secure ? "https://" : "") + address_of(config_.host, *port);
}

// Sets the allowed callers and, if there are several, the share of each.
void Service::admit(const Config& config) {
  std::set<std::string> callers;
  for (const ConfiguredToken& token : config.tokens) callers.insert(token.caller);
  if (config.anonymous_allowed()) callers.insert(task::kAnonymous.value);
  callers_.with([&](Callers& known) {
    known.configured = std::move(callers);
    known.has_issuers = !config.issuers.empty();
    known.share = config.queue_share;
    known.queue_max = config.engine.queue_max;
    known.delayed_max = config.engine.delayed_max;
  });
  std::vector<server::Token> tokens = tokens_of(config);
  if (!dev_token_.empty()) tokens.push_back({dev_token_, {kDevOperator}, {}, server::Role::operates});
  options_.tokens = std::move(tokens);
  const bool acts_for_callers =
      std::ranges::any_of(dependencies_.catalogue.all(),
                          [](const agents::Agent* agent) { return agent->settings.acts_for_callers(); });
  if (jwt_) jwt_->set(config.issuers, config_.server.public_url, acts_for_callers);
  if (sign_in_) {
    const SignInOptions& sign_in = config.sign_in;
    sign_in_->provider.set(sign_in);
    sign_in_->pages.set({{sign_in.issuer, sign_in.client_id, sign_in.caller_roles}, sign_in.scopes});
  }
  share();
}

// Sets the share of each caller, if there are several. From any thread: under the lock, so that the last call
// sets what the last change wants.
void Service::share() {
  callers_.with([&](const Callers& known) {
    std::set<std::string> all = known.configured;
    all.insert(known.with_keys.begin(), known.with_keys.end());
    const auto share_of = [&](int most) {
      if (all.size() < 2 && !known.has_issuers) return 0;
      return std::max(1, static_cast<int>(known.share * most));
    };
    options_.streams.set_max(share_of(limits_.streams_max));
    options_.replies.set_max(share_of(limits_.connections_max));
    engine_.set_caller_queue_max(share_of(known.queue_max));
    engine_.set_caller_delayed_max(share_of(known.delayed_max));
  });
}

// Called whenever the API keys have changed, on a thread of the engine.
void Service::take_api_keys(const engine::ApiKeys::Keys& keys) {
  api_keys_->set(keys);
  std::set<std::string> callers = server::callers_of(keys, dependencies_.clock.now());
  callers_.with([&](Callers& known) { known.with_keys = std::move(callers); });
  share();
}

void Service::store_used_keys() {
  store::UsedApiKeys used = api_keys_->take_used();
  if (!used.keys.empty()) engine_.api_keys().note_used(std::move(used));
}

void Service::sign_with(const SigningKeys& keys, CardChecks& checks) {
  card_checks_ = &checks;
  notifier_.set_keys(keys.webhooks);
  card_signer_->set(keys.cards, std::chrono::floor<std::chrono::seconds>(dependencies_.clock.now()));
  checks.set(keys.card_trust);
  log_signing_keys(keys);
  if (keys.card_trust->policy != protocol::CardPolicy::require) return;
  for (const agents::Agent* agent : dependencies_.catalogue.all()) {
    if (is_called_without_card(*agent))
      base::log_warn({{"agent", agent->name.value}},
                     "cards.verify is \"require\", and with a2a.transport grpc and a2a.endpoint there is no "
                     "card, so the agent is not called");
  }
}

// Fetches the cards of remote agents before anybody requests them, and signs all that are known.
void Service::look_at_cards() const {
  for (const agents::Agent* agent : dependencies_.catalogue.all()) (void)agent->shown_card();
  server::sign_cards(services_);
}

// Handles SIGHUP, which the watch over agents' folders sends too.
void Service::reload(const LoadedConfig& loaded) {
  std::vector<std::string> problems = loaded.problems;
  // Callers need a token if any token belongs to a caller, so that cannot change without a restart.
  if (problems.empty() && loaded.config.has_callers() != config_.has_callers()) {
    problems.emplace_back(
        "adding the first caller's token or issuer, or removing the last one, requires a restart");
  }
  if (problems.empty() && loaded.config.issuers.empty() != config_.issuers.empty())
    problems.emplace_back("adding the first issuer, or removing the last one, requires a restart");
  if (problems.empty() && loaded.config.sign_in.is_on() != config_.sign_in.is_on())
    problems.emplace_back("turning sign-in on or off requires a restart");
  if (problems.empty() && loaded.config.accepts_api_keys() != config_.accepts_api_keys())
    problems.emplace_back("turning API keys on or off requires a restart");
  // Agents must not get these variables, and agents whose cards are unchanged keep their environment.
  if (problems.empty() && loaded.config.cards.secret_variables != config_.cards.secret_variables) {
    problems.emplace_back("changing token_env requires a restart");
  }
  if (problems.empty() && loaded.config.tls.is_on() != config_.tls.is_on()) {
    problems.emplace_back("turning TLS on or off requires a restart");
  }
  // gRPC asks as it did when it started.
  if (problems.empty() && is_asking(loaded.config.tls) != is_asking(config_.tls)) {
    problems.emplace_back(
        "changing whether clients are asked for certificates, or need one, requires a restart");
  }
  if (problems.empty() && !loaded.config.card_security.signing_key.empty() &&
      config_.server.public_url.empty())
    problems.emplace_back("cards.signing_key requires public_url, and setting that requires a restart");
  const auto signing_keys = read_signing_keys(loaded.config);
  if (problems.empty() && !signing_keys) problems.push_back(signing_keys.error().for_caller);
  for (const std::string& problem : problems) spdlog::error("reload: {}", problem);
  if (!problems.empty()) return spdlog::error("reload failed: nothing was changed");
  if (loaded.config.token_secret != config_.token_secret)
    spdlog::warn(
        "reload: the secret in token_secret_file has changed; the earlier one stays until a restart");
  const auto cards =
      dependencies_.catalogue.reload(config_.agents_folder, dependencies_.make_executor, {}, config_.cards);
  if (!cards) {
    spdlog::error("reload: {}", cards.error().for_log);
    return spdlog::error("reload failed: nothing was changed");
  }
  for (const agents::Catalogue::CardReport& wrong : cards->wrong) {
    for (const agents::Catalogue::Finding& found : wrong.findings)
      base::log_error({{"agent", wrong.folder}},
                      "its card is invalid, so the agent keeps its earlier card: {}", found.text());
  }
  const std::set<std::string> changed = names_of({&cards->added, &cards->changed});
  for (const agents::Catalogue::CardReport& odd : dependencies_.catalogue.warnings()) {
    if (config_.cards.dev && !changed.contains(odd.folder)) continue;  // the author has read it
    base::log_warn({{"agent", odd.folder}}, "{}", odd.text());
  }
  if (const auto taken = engine_.catalogue_changed(); !taken) {
    spdlog::error("reload: the schedules were not changed: {}", taken.error().for_log);
  }
  if (certificates_) certificates_->use(loaded.config.tls.files());
  sign_with(*signing_keys, *card_checks_);
  nodes_.announce();
  admit(loaded.config);
  look_at_cards();
  pipeline_.tell_changes();
  if (config_.cards.dev) {
    for (const std::string& agent : cards->added) base::log_info({{"agent", agent}}, "added");
    for (const std::string& agent : cards->changed) base::log_info({{"agent", agent}}, "reloaded");
    for (const std::string& agent : cards->removed) base::log_info({{"agent", agent}}, "removed");
    return;
  }
  spdlog::info("reloaded: tokens={} agents added={} changed={} removed={}", loaded.config.tokens.size(),
               cards->added.size(), cards->changed.size(), cards->removed.size());
}

// Serves open requests while the turns drain, and refuses new ones. A second signal ends the grace.
void Service::drain(const Servers& servers, const sigset_t& signals) {
  constexpr timespec kLook{0, 50'000'000};
  std::atomic<bool> done{false}, hurried{false};
  std::jthread impatience([&] {
    while (!done && !hurried) {
      const int signal = sigtimedwait(&signals, nullptr, &kLook);
      if (signal != SIGTERM && signal != SIGINT) continue;
      spdlog::warn("second request to stop: unfinished turns resume after the next start");
      hurried = true;
      dependencies_.exit_deadline.arm({});
      engine_.hurry();
    }
  });
  servers.http.drain();
  servers.grpc.drain();
  servers.operators.drain();
  engine_.drain();
  // At this point all requests that waited for a turn are being answered.
  const std::chrono::milliseconds grace(hurried ? 100 : 1'000);
  std::jthread closing([&] { servers.http.stop(grace); });
  servers.grpc.stop(grace);
  servers.operators.stop(grace);
  closing.join();
  done = true;
}

void Service::more_metrics(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  out.family(
      "baton_thread_busy_seconds", Type::gauge,
      "Longest time that a callback blocked a shared thread in the last one to two minutes, in seconds.");
  for (const auto& [thread, longest] : base::BusyTime::all())
    out.value({{"thread", thread}}, std::chrono::duration<double>(longest).count());
  const notify::Notifier::Counters sent = notifier_.counters();
  out.family("baton_webhooks_total", Type::counter, "Webhook delivery attempts since start, by outcome.");
  out.value({{"outcome", "delivered"}}, sent.delivered);
  out.value({{"outcome", "failed"}}, sent.failed_attempts);
  out.value({{"outcome", "given_up"}}, sent.given_up);
  if (const auto counts = dependencies_.deliveries.delivery_counts()) {
    out.gauge("baton_webhooks_waiting", "Webhook deliveries that are waiting.", counts->waiting);
  }
  out.family("baton_webhook_attempt_duration_seconds", Type::histogram,
             "Duration of webhook delivery attempts, in seconds.");
  out.histogram({}, notifier_.attempt_time().snapshot());
  dependencies_.calls.add_to(out);
  dependencies_.breakers.add_to(out);
  dependencies_.answers.add_to(out);
  nodes_.add_to(out);
  if (jwt_) jwt_->add_to(out);
  if (dependencies_.identity != nullptr) add_certificates(*dependencies_.identity, out);
  if (dependencies_.exporter != nullptr) dependencies_.exporter->add_to(out);
  if (!is_postgres(config_.store.database)) add_database_size(out, config_.store.database);
  add_process_metrics(out);
}

}  // namespace baton::app
