// Router: dispatches each request by its path. Every path of the program is on this page:
//
//   POST [/agents/<name>][/]                                  A2A over JSON-RPC, every generation
//   [/agents/<name>]/v1/message:send, /v1/tasks/...           A2A 0.3 over REST (server/a2a/rest.cpp)
//   [/agents/<name>][/<tenant>]/message:send, /tasks/...      A2A 1.0 over REST
//   POST [/agents/<name>]/send-message, /ag-ui, /process, ... chat protocols (server/chat/routes.cpp)
//   POST /v1/aibot/bots/<name>/send-message                   the same, as hosted AG-Kit agents have it
//   GET  [/agents/<name>]/.well-known/agent-card.json         the agent's card; agent.json is the same
//   GET  [/agents/<name>]/agent/authenticatedExtendedCard     its extended card, for A2A 0.2
//   GET  /agents                                              the agents that the caller may call
//   GET  /healthz  /health  /readyz  /metrics                 for operators
//   OPTIONS anything                                          for browsers
//
// A path without /agents/<name> means the default agent; if there is none, the answer is 404.
//
// Threads: `handle` on the servers' workers, several at a time; else one thread. Lifetime: as Services.
#pragma once

#include <atomic>
#include <optional>

#include "server/chat/routes.h"
#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"
#include "server/wrong_tokens.h"

namespace baton::server {

class Router {
 public:
  explicit Router(const Services& services) : services_(services) {}

  void handle(std::shared_ptr<http::Exchange> exchange) const;
  // Whether the caller may call the agent at this path; for callers that have the head before the body. An
  // unknown agent is admitted, and left to `handle`.
  base::Result<void> admit(const http::Request& head) const;

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
  // Call before the first request.
  void set_http_counts(std::function<http::Counts()> counts) { http_counts_ = std::move(counts); }

 private:
  // A path that belongs to an agent: the agent, and the path after its prefix.
  struct Target : Endpoint {
    std::string_view rest;
    std::string_view raw_rest;  // percent-encoded, as received
  };
  Target target_of(const http::Request& request) const;
  http::Reply readiness() const;
  // False: not an operator path.
  bool handle_operators(http::Exchange& exchange) const;
  void handle_agents(const std::shared_ptr<http::Exchange>& exchange, bool reads) const;
  std::chrono::milliseconds note_wrong_token(const http::Request& request, const base::Error& error) const;
  // Refuses a caller, with a delay if wrong tokens keep coming from its address.
  template <class Refuse>
  void refuse_caller(const http::Request& request, const base::Error& error, Refuse&& refuse) const;
  // For A2A 0.2.
  void reply_extended_card(const std::shared_ptr<http::Exchange>& exchange, const Target& target) const;
  void handle_chat(std::shared_ptr<http::Exchange> exchange, const Target& target, chat::Door door) const;
  void handle_call(std::shared_ptr<http::Exchange> exchange, const Target& target) const;
  void reply(http::Exchange& exchange, http::Reply reply) const;

  const Services& services_;
  const std::unique_ptr<chat::RunClaims> claims_ = std::make_unique<chat::RunClaims>();
  mutable WrongTokens wrong_tokens_;
  std::string base_url_;  // read only after `open`
  std::function<http::Counts()> http_counts_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> is_open_{false};
};

}  // namespace baton::server
