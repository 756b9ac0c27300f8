// Pipeline: the stages that every request passes, in this order:
//
//   limits        in http/ and server/grpc/, while the request comes in: a flood costs no worker.
//   health        the first stage here: probes may name any host, and ask while the program starts.
//   host          before anything is done for the request: a page whose domain was made to resolve to this
//                 machine may not even learn what is served (hosts.h).
//   preflight     browsers send it without a token, and for any path.
//   token         the signature of an unknown token is checked on a thread of its own, so that a flood of
//                 them delays no known one. If its issuer's keys are being fetched, it waits for them, for at
//                 most two seconds.
//   route         before the caller is known: a token may be for some agents only, and a refusal has the form
//                 of the binding and version that the path names.
//   origin        before the token: no page may use one that its browser adds.
//   authenticate  before a body is decoded: a caller without a token costs no parser.
//   scope         with the caller, where the path says what is asked for (scope_of); else the operation
//                 (OperationRow, and the methods of MCP) says it after decoding.
//   decode        the binding reads a request value (a2a/json_rpc.h, a2a/rest.h, chat/routes.h, grpc/).
//   call          the operation (a2a/operations.h, chat/routes.cpp).
//   encode        the binding writes the operation's answer value, or each item of its stream.
//   respond       the connection layer's Exchange, wrapped so that every answer gets browsers' headers, and
//                 is counted and noted (observed_exchange.h).
//
// The paths of every stage and binding are rows of a table (server/shared/path_table.h, pipeline/paths.cpp).
// A path without /agents/<name> means the default agent; if there is none, the answer is 404. A gRPC call has
// a path of its own and takes the stages up to `authenticate` by its head (`await`, `admit`).
//
// Threads: `handle` and `admit` on the servers' threads, several at a time; all else on one thread. Lifetime:
// as Services.
#pragma once

#include <atomic>
#include <optional>

#include "http/http_server.h"
#include "server/a2a/rest.h"
#include "server/admission/refusal_log.h"
#include "server/admission/wrong_tokens.h"
#include "server/chat/routes.h"
#include "server/mcp/list_changes.h"
#include "server/mcp/running_calls.h"
#include "server/operate/node_list.h"
#include "server/operate/routes.h"
#include "server/pipeline/observed_exchange.h"
#include "server/shared/endpoint.h"
#include "server/shared/services.h"
#include "server/sign_in/sign_in.h"

namespace baton::server {

class Pipeline {
 public:
  explicit Pipeline(const Services& services) : services_(services) {}

  void handle(std::shared_ptr<http::Exchange> exchange) const;
  // For a listener that serves operators only: health checks, the operator API and the console.
  void handle_operator(std::shared_ptr<http::Exchange> way_back) const;
  // For the server whose handler is `handle`. Small requests are handled on the loop's thread, so code that
  // may block calls Exchange::block first.
  http::Hooks hooks() const;
  // The answer to an error that the connection layer detects, in the form of the path's protocol, and with
  // the headers that let a page read it. Must not block.
  http::Reply connection_error(const http::Request& request, int status, std::string_view reason) const;
  // The answer to such an error on the operators' paths or listener. It has no headers for pages: no page of
  // another origin may read it.
  static http::Reply operator_error(const http::Request& request, int status, std::string_view reason);
  // Runs the stages up to `authenticate` on a request's head, for gRPC, which has the head before the
  // message. The path names the agent; the endpoint has no agent if none has that name.
  base::Result<Admitted> admit(const http::Request& head) const;
  // The stage token for requests whose token is not quick (has_quick_token), as TokenSource::await.
  TokenSource::Wait await(const http::Request& head, std::function<void()> done) const;

  // The answer to a health check; needs no worker and never blocks. Empty for any other request.
  std::optional<http::Reply> health(std::string_view method, std::string_view path) const;

  // /readyz answers 503 until this is true, and again once the program drains.
  void set_ready(bool ready) { ready_ = ready; }
  // Call once, when every address is known, including the options' gRPC address. Until then calls and cards
  // get 503, so that servers may already listen. `base_url` is the cards' fallback if neither the
  // configuration nor the request names a host.
  void open(std::string base_url) {
    base_url_ = std::move(base_url);
    is_open_.store(true, std::memory_order_release);
  }
  // Call these before the first request. `with_callers`: `handle` serves the operators' paths, too.
  // `options`: the options with the hosts that operators may name.
  void set_operators(const operate::Routes* routes, const ServerOptions* options, bool with_callers) {
    operators_ = routes;
    operator_options_ = options;
    operators_with_callers_ = with_callers;
  }
  // Call before the first request. Without it nobody can sign in.
  void set_sign_in(const sign_in::SignIn* sign_in) { sign_in_ = sign_in; }
  // Call after the agents or the callers have changed.
  void tell_changes() const { list_changes_.tell(); }
  // For /readyz.
  void set_nodes(const Nodes* nodes) { nodes_ = nodes; }
  // `remarks` returns lines for the answer of a server that is ready. Must not block.
  void set_remarks(std::function<std::string()> remarks) { remarks_ = std::move(remarks); }
  void set_http_counts(std::function<http::Counts()> counts) { http_counts_ = std::move(counts); }

 private:
  using ExchangePtr = std::shared_ptr<ObservedExchange>;
  // A path that belongs to an agent: the agent, and the path after its prefix.
  struct Target : Endpoint {
    std::string_view rest;
    std::string_view raw_rest;        // percent-encoded, as received
    std::optional<Scope> scope = {};  // that the request needs
  };
  http::Reply readiness() const;
  http::Reply protocol_error(const http::Request& request, int status, std::string_view reason) const;

  // Runs the stages health and host. Returns null if the request has been answered.
  ExchangePtr run_first_stages(std::shared_ptr<http::Exchange> way_back, bool for_operators) const;
  void route(const ExchangePtr& exchange) const;
  void serve_root(const ExchangePtr& exchange, const PathMatch& found) const;
  void serve_agent(const ExchangePtr& exchange, const Target& target, const PathMatch& found) const;
  void serve_operators(const ExchangePtr& exchange, const ServerOptions& options) const;
  void serve_sign_in(const ExchangePtr& exchange, const ServerOptions& options) const;
  void call_operator(const ExchangePtr& exchange, const ServerOptions& options) const;
  bool wait_for_token(const ExchangePtr& exchange, const std::function<void()>& next) const;
  Target target_of(const http::Request& request) const;
  const agents::Agent* agent_named(std::string_view name) const;
  // Finds the row of a path below an agent.
  static PathMatch find_below(const Target& target, std::string_view method);
  void serve_start(const ExchangePtr& exchange) const;
  void serve_resource(const ExchangePtr& exchange, std::string_view path) const;
  void serve_agents(const ExchangePtr& exchange) const;
  void serve_tokens(const ExchangePtr& exchange) const;
  void serve_card(const ExchangePtr& exchange, const Target& target) const;
  void serve_catalog(const ExchangePtr& exchange) const;
  // `agent` null: of the tools of all agents.
  void serve_server_card(const ExchangePtr& exchange, const agents::Agent* agent) const;
  void serve_plan(const ExchangePtr& exchange, const Target& target) const;
  // For A2A 0.2.
  void serve_extended_card(const ExchangePtr& exchange, const Target& target) const;
  void serve_chat(const ExchangePtr& exchange, const Target& target, const ChatProtocol& chat) const;
  using ConversationHandler = void (*)(std::shared_ptr<http::Exchange>, const Admitted&, task::ContextId);
  void serve_conversations(const ExchangePtr& exchange, const Target& target, std::string_view id,
                           ConversationHandler handler) const;
  void serve_mcp(const ExchangePtr& exchange, const PathMatch& found) const;
  void serve_openai(const ExchangePtr& exchange, const PathMatch& found) const;
  void serve_agent_mcp(const ExchangePtr& exchange, const Target& target, const PathMatch& found) const;
  void serve_json_rpc(const ExchangePtr& exchange, const Target& target) const;
  void serve_rest(const ExchangePtr& exchange, const Target& target, const a2a::RestTarget& rest) const;

  // Runs the stages origin and authenticate. Returns nothing if the request has been answered: by
  // `refuse(error)` if the caller was refused, with a delay if wrong tokens keep coming from its address.
  template <class Refuse>
  std::optional<Admitted> admitted(const ExchangePtr& exchange, const Target& target, Refuse&& refuse) const;
  void note_refusal(const http::Request& request, std::string_view reason) const;
  // Returns false, and logs the refusal, if the request comes from a web page that may not call.
  bool admits_origin(const http::Request& request) const;
  // Logs that the caller is refused, and returns how long to delay that.
  std::chrono::milliseconds note_wrong_token(const http::Request& request, const base::Error& error) const;
  template <class Refuse>
  void refuse_caller(const http::Request& request, const base::Error& error, Refuse&& refuse) const;

  const Services& services_;
  const std::unique_ptr<chat::RunClaims> claims_ = std::make_unique<chat::RunClaims>();
  const mcp::RunningCalls running_;
  const mcp::ListChanges list_changes_;
  mutable WrongTokens wrong_tokens_;
  const operate::Routes* operators_ = nullptr;
  const ServerOptions* operator_options_ = nullptr;
  bool operators_with_callers_ = false;
  const sign_in::SignIn* sign_in_ = nullptr;
  const Nodes* nodes_ = nullptr;          // null: there are no other nodes
  std::function<std::string()> remarks_;  // may be empty
  mutable RefusalLog refusals_;
  std::string base_url_;  // read only after `open`
  std::function<http::Counts()> http_counts_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> is_open_{false};
};

}  // namespace baton::server
