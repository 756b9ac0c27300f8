// Router: from a request's path to whoever answers it. Every path of the program is on this page:
//
//   POST /  /agents/<name>  /agents/<name>/                 A2A (JSON-RPC); bare: the default agent
//   GET  [/agents/<name>]/.well-known/agent.json            the agent's card
//   GET  /healthz  /readyz  /metrics                        for operators
//   OPTIONS anything                                        for browsers
//
// Threads: `handle` on the server's workers, several at a time. Lifetime: as Services.
#pragma once

#include <atomic>

#include "server/a2a_v0_1_routes.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

class Router {
 public:
  explicit Router(const Services& services) : services_(services), a2a_v0_1_(services) {}

  void handle(std::shared_ptr<http::Exchange> exchange) const;

  // /readyz answers 503 until this was said, and again once the program drains.
  void set_ready(bool ready) { ready_ = ready; }
  // The address cards name where neither the configuration nor the request does.
  void set_address(std::string base_url) { base_url_ = std::move(base_url); }
  void set_http_counts(std::function<http::Counts()> counts) { http_counts_ = std::move(counts); }

 private:
  // A path that belongs to an agent: which, and what follows its prefix.
  struct Target {
    const agents::Agent* agent = nullptr;
    std::string_view rest;
    bool at_root = false;
  };
  Target target_of(std::string_view path) const;
  http::Reply card(const http::Request& request, const Target& target) const;
  http::Reply get(const http::Request& request) const;
  void post(std::shared_ptr<http::Exchange> exchange) const;
  std::string url_of(const http::Request& request, const Target& target) const;
  std::string metrics() const;

  const Services& services_;
  const A2aV01Routes a2a_v0_1_;
  std::string base_url_;
  std::function<http::Counts()> http_counts_;
  std::atomic<bool> ready_{false};
};

}  // namespace baton::server
