// Router: from a request's path to whoever answers it. Every path of the program is on this page:
//
//   POST [/agents/<name>][/]                                  A2A over JSON-RPC, every generation
//   [/agents/<name>]/v1/message:send, /v1/tasks/...           A2A 0.3 over REST (server/a2a/rest.cpp)
//   [/agents/<name>][/<tenant>]/message:send, /tasks/...      A2A 1.0 over REST
//   POST [/agents/<name>]/send-message, /ag-ui, /process, ... chat protocols (server/chat/routes.cpp)
//   POST /v1/aibot/bots/<name>/send-message                   the same, as hosted AG-Kit agents have it
//   GET  [/agents/<name>]/.well-known/agent-card.json         the agent's card; agent.json is the same
//   GET  [/agents/<name>]/agent/authenticatedExtendedCard     its extended card, as A2A 0.2 asks for it
//   GET  /healthz  /health  /readyz  /metrics                 for operators
//   OPTIONS anything                                          for browsers
//
// Without /agents/<name> the default agent is meant.
//
// Threads: `handle` on the servers' workers, several at a time; else one thread. Lifetime: as Services.
#pragma once

#include <atomic>

#include "server/chat/routes.h"
#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

class Router {
 public:
  explicit Router(const Services& services) : services_(services) {}

  void handle(std::shared_ptr<http::Exchange> exchange) const;

  // /readyz answers 503 until this was said, and again once the program drains.
  void set_ready(bool ready) { ready_ = ready; }
  // Once, when every address is known, the options' gRPC address too: until then calls and cards get 503, so
  // that servers may listen already. `base_url` is what cards name where neither the configuration nor the
  // request does.
  void open(std::string base_url) {
    base_url_ = std::move(base_url);
    is_open_.store(true, std::memory_order_release);
  }
  // Before the first request.
  void set_http_counts(std::function<http::Counts()> counts) { http_counts_ = std::move(counts); }

 private:
  // A path that belongs to an agent: which, and what follows its prefix.
  struct Target : Endpoint {
    std::string_view rest;
    std::string_view raw_rest;  // percent-encoded, as it came
  };
  Target target_of(const http::Request& request) const;
  // False: it is not for operators.
  bool handle_operators(http::Exchange& exchange) const;
  // As A2A 0.2 asks for it.
  void reply_extended_card(http::Exchange& exchange, const Target& target) const;
  void handle_chat(std::shared_ptr<http::Exchange> exchange, const Target& target, chat::Door door) const;
  void handle_call(std::shared_ptr<http::Exchange> exchange, const Target& target) const;
  void reply(http::Exchange& exchange, http::Reply reply) const;

  const Services& services_;
  const std::unique_ptr<chat::BegunRuns> runs_ = std::make_unique<chat::BegunRuns>();
  std::string base_url_;  // read once it is open
  std::function<http::Counts()> http_counts_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> is_open_{false};
};

}  // namespace baton::server
