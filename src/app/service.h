// Service: every long-lived object of `baton serve`, built in order of dependency and destroyed in reverse.
//
// Lifetime: the configuration, the store, the clocks, the processes and the catalogue must outlive it.
// Threads: one thread builds, runs and destroys it.
#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "agents/cards/catalogue.h"
#include "agents/command/process_host.h"
#include "app/certificate_watch.h"
#include "app/exit_deadline.h"
#include "app/grpc_relay.h"
#include "app/issuer_keys.h"
#include "app/load_config.h"
#include "app/sign_in_provider.h"
#include "app/signing_keys.h"
#include "app/supervisor.h"
#include "base/clock.h"
#include "base/fair_pool.h"
#include "base/guarded.h"
#include "base/worker_pool.h"
#include "engine/engine.h"
#include "http/http_server.h"
#include "http/tls/identity.h"
#include "notify/notifier.h"
#include "outbound/breakers.h"
#include "outbound/byte_budget.h"
#include "outbound/call_counts.h"
#include "server/admission/api_key_tokens.h"
#include "server/grpc/grpc_server.h"
#include "server/operate/node_list.h"
#include "server/operate/routes.h"
#include "server/pipeline/pipeline.h"
#include "server/shared/answer_budget.h"
#include "server/shared/services.h"
#include "store/peers.h"
#include "store/retention_store.h"
#include "store/task_store.h"

namespace baton::app {

// The objects that a Service uses and does not own, because opening any of them may fail.
struct Dependencies {
  const base::Clock& clock;         // for times that are shown
  const base::Clock& steady_clock;  // for retries
  store::TaskStore& store;
  store::DeliveryStore& deliveries;
  store::RetentionStore& retention;
  store::OperatorStore& operators;
  const agents::Catalogue::Make& make_executor;
  agents::Catalogue& catalogue;
  const Supervisor& supervisor;
  ExitDeadline& exit_deadline;
  // For metrics.
  const outbound::ByteBudget& answers;
  std::string server_name;                  // for other servers; empty: a new one in each run
  const outbound::Breakers& breakers;       // for metrics
  outbound::CallCounts& calls;              // counts webhooks, too
  base::SpanQueue* spans = nullptr;         // of traces; outlives the service; null: none
  store::Peers* peers = nullptr;            // the nodes that share the store; null: it is not shared
  const TraceExporter* exporter = nullptr;  // for metrics; null: none
  http::tls::Identity* identity = nullptr;  // of TLS; null: plain HTTP
  std::uint64_t agent_files = 0;            // with --dev: agents::files_digest before the cards were read
};

class Service {
 public:
  // `limits`: the configured ones, lowered to the available descriptors (http_limits).
  Service(const Config& config, const Dependencies& dependencies, const http::Limits& limits);

  ~Service();

  // Signs with these keys, and makes `checks` use them, until a reload reads others. Call before `run`.
  // `checks` must outlive the service.
  void sign_with(const SigningKeys& keys, CardChecks& checks);
  // Listens, prints the addresses to standard output, serves until SIGTERM or SIGINT, and drains. SIGHUP
  // reloads the configuration with `read_again`. Fails if it cannot start.
  base::Result<void> run(const std::function<LoadedConfig()>& read_again, const sigset_t& signals);

 private:
  // The servers of callers and of operators.
  struct Servers {
    http::HttpServer& http;
    server::grpc::GrpcServer& grpc;
    http::HttpServer& operators;
  };
  base::Result<void> serve(const Servers& servers, const std::function<LoadedConfig()>& read_again,
                           const sigset_t& signals);
  base::Result<std::string> start_operators(http::HttpServer& operators);
  void keep_alive();
  void print_addresses(const std::string& url, const std::string& grpc, const std::string& operators) const;
  base::Result<std::string> start_grpc(server::grpc::GrpcServer& grpc);
  void admit(const Config& config);
  void share();
  void take_api_keys(const engine::ApiKeys::Keys& keys);
  void store_used_keys();
  void look_at_cards() const;
  void reload(const LoadedConfig& loaded);
  void drain(const Servers& servers, const sigset_t& signals);
  void more_metrics(base::MetricsText& out) const;

  const Config& config_;
  const Dependencies dependencies_;
  const http::Limits limits_;
  notify::WebhookLinks links_;  // the URL is set once the address is known, before webhooks are rendered
  engine::Engine engine_;
  notify::Notifier notifier_;
  const std::shared_ptr<server::JwtIssuers> jwt_;            // shared with the options; null without issuers
  const std::shared_ptr<server::ApiKeyTokens> api_keys_;     // likewise; null if they are off
  const std::shared_ptr<const server::TokenSecret> secret_;  // likewise; signs sessions and pages' tokens
  const std::shared_ptr<server::Sessions> sessions_;         // likewise; null if nobody can sign in
  const std::shared_ptr<server::CardSigner> card_signer_;    // likewise
  server::ServerOptions options_;
  // Who may call, and what each gets of everything if they are several.
  struct Callers {
    std::set<std::string> configured, with_keys;
    bool has_issuers = false;
    double share = 0;
    int queue_max = 0, delayed_max = 0;
  };
  base::Guarded<Callers> callers_;
  base::WorkerPool readers_;
  server::AnswerBudget answers_;
  server::AnswerBudget pages_;
  server::RequestStats requests_;
  const server::Services services_;
  const std::string dev_token_;  // an operator's token for this run; empty without --dev
  server::ServerOptions operator_options_;
  base::WorkerPool operator_readers_;
  server::AnswerBudget operator_pages_;
  server::Nodes nodes_;
  const server::Services operator_services_;
  std::optional<GrpcRelay> grpc_relay_;  // none without gRPC
  server::operate::Facts operator_facts_;
  const server::operate::Routes operators_;
  server::Pipeline pipeline_;
  // How people sign in.
  struct SignIn {
    SignIn(const Config& config, const Dependencies& dependencies, const Service& service);
    SignInProvider provider;
    base::WorkerPool pool{"sign-in", 2, 64};
    server::sign_in::SignIn pages;
  };
  std::optional<SignIn> sign_in_;                 // none if nobody can
  CardChecks* card_checks_ = nullptr;             // of sign_with
  std::optional<base::FairPool> token_checks_;    // none without issuers; before the keys, which use it
  std::optional<IssuerKeys> issuer_keys_;         // none without issuers
  std::optional<CertificateWatch> certificates_;  // while TLS is served
};

}  // namespace baton::app
