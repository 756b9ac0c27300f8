// Config: the configuration of `baton serve`, composed of the options of its components. A setting's default
// is the initial value of its member, here or in the component's options. settings.cpp describes each
// setting, and load_config.h the sources of other values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/plan/workflow_executor.h"
#include "app/logging.h"
#include "app/trace_exporter.h"
#include "base/clock.h"
#include "engine/shared/options.h"
#include "http/http_server.h"
#include "http/tls/files.h"
#include "notify/notifier.h"
#include "outbound/byte_budget.h"
#include "outbound/proxy.h"
#include "outbound/rules.h"
#include "server/admission/jwt_claims.h"
#include "server/grpc/limits.h"
#include "server/shared/options.h"

namespace baton::app {

// A bearer token and the caller it identifies.
struct ConfiguredToken {
  std::string secret;
  std::string caller;
  std::vector<std::string> agents;  // the agents it is valid for; empty: all
  std::string variable;             // the environment variable that holds the secret; empty: none
  std::string file;                 // the file that holds the secret; empty: none
  server::Role role = server::Role::calls;
  bool binds_children = false;  // tasks delegated by its tasks may also use only these agents
  server::Scopes scopes = server::Scopes::all();
  std::string certificate = {};  // a name in clients' certificates, instead of a secret; empty: none
};

// The database of tasks.
struct StoreOptions {
  std::string database = "baton.db";         // a SQLite file, ":memory:" or a PostgreSQL URL (database_url.h)
  std::string database_file;                 // the file that this was read from; empty: none
  std::vector<std::string> postgres_allows;  // unsafe settings of a PostgreSQL server to accept
  bool postgres_standby = false;             // waits while another Baton uses the PostgreSQL database
  base::Duration send_retention = std::chrono::hours(24);
  std::string node_name;  // the node's name for operators; empty: the machine's name

  // Returns `node_name`, or the machine's name if that is empty.
  std::string name_of_node() const;
};

// TLS of the listeners; none without certificates.
struct TlsOptions {
  std::vector<std::string> certificates;  // files
  std::vector<std::string> keys;          // one for each certificate; empty: in the certificates' files
  std::string ticket_secret_file;         // empty: none
  std::string client_authorities_file;    // of clients' certificates; empty: none are asked for
  bool client_certificate_required = false;
  bool operate = true;  // also on the operators' own listener
  bool grpc = true;     // also on gRPC's port

  bool is_on() const { return !certificates.empty(); }
  http::tls::IdentityFiles files() const;
};

// Signing in to the console and the chat page; off without an issuer.
struct SignInOptions {
  std::string issuer;  // one of Config::issuers
  std::string client_id;
  std::string client_secret_file;  // empty: none
  std::string client_secret;       // what the file contains
  std::vector<std::string> scopes{"openid", "profile", "email"};
  std::vector<std::string> caller_roles;  // as in server::SignInRules

  bool is_on() const { return !issuer.empty(); }
};

// Signatures of cards: of ours, and of those of agents elsewhere.
struct CardSecurity {
  std::string signing_key;                  // a file; empty: our cards are not signed
  std::vector<std::string> published_keys;  // files of further keys that clients are shown
  bool python_signature = true;             // also one for readers of a2a-python
  std::string verify = "if-present";        // "off", "if-present" or "require"
  std::vector<std::string> trusted_keys;    // "ORIGIN=FILE"
};

struct Config {
  static constexpr int kGrpcOff = -1;

  std::string host = "127.0.0.1";
  int port = 8080;
  int grpc_port = kGrpcOff;
  static constexpr int kWithCallers = -1;
  int operate_port = kWithCallers;  // of the operator API and the console: on the callers' listener
  std::string operate_host = "127.0.0.1";
  std::string agents_folder = "agent-cards";
  outbound::Proxy proxy;                          // for all calls to other servers
  std::vector<std::string> outbound_origins;      // of remote agents; these may have any address
  outbound::ByteBudget::Options outbound_budget;  // for their answers
  outbound::Limits outbound_limits;
  std::vector<ConfiguredToken> tokens;
  std::vector<server::Issuer> issuers;  // authorization servers whose tokens are accepted
  SignInOptions sign_in;
  std::string token_secret_file;  // empty: none
  std::string token_secret;       // what the file contains
  std::optional<bool> allow_anonymous;
  std::optional<bool> api_keys;
  bool allow_readable_secrets = false;  // allow files with tokens that every user can read
  double queue_share = 0.25;  // the share of queue places, streams and replies for one of several callers
  std::size_t answers_bytes_max = 128 << 20;  // of all large responses being built or sent
  LogOptions log;
  TraceOptions traces;

  TlsOptions tls;
  http::Limits http;
  server::grpc::GrpcLimits grpc;
  server::ServerOptions server;  // service.cpp adds the tokens and values derived from several settings
  agents::CommonRules cards;
  CardSecurity card_security;
  engine::EngineOptions engine;
  agents::PlanOptions plans;
  notify::NotifierOptions webhooks;
  std::vector<std::string> webhook_keys;  // files of keys that sign webhooks
  StoreOptions store;

  // Returns true if the server listens only on a loopback address.
  bool on_loopback() const;
  // Returns true if callers can have a token: of the configuration, of an issuer, or an API key.
  bool has_callers() const;
  // Returns the configured value; by default, API keys are accepted if callers can have another token.
  bool accepts_api_keys() const { return api_keys.value_or(has_callers()); }
  // Returns the configured value; by default, anonymous callers are allowed if no caller can have a token.
  bool anonymous_allowed() const { return allow_anonymous.value_or(!has_callers()); }
};

}  // namespace baton::app
