// RequestStats: counts requests by agent, protocol and status, and measures how long the answers took.
//
// A request is counted when it is answered; a stream, when it opens. Threads: any. Counters are relaxed
// atomics, found by the agent's address under a short lock. Memory is bounded by the number of agents,
// including those that a reload has replaced: it does not depend on callers, paths or other texts of
// requests.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "agents/cards/catalogue.h"
#include "base/guarded.h"
#include "base/metrics_text.h"

namespace baton::server {

// The protocol of a request, known from its path.
enum class Protocol {
  json_rpc,
  rest,
  grpc,
  send_message,
  ag_ui,
  agent_api,
  agent_server,
  mcp,
  openai,
  other
};
std::string_view name_of(Protocol protocol);

class RequestStats {
 public:
  using Time = std::chrono::nanoseconds;

  // `agent`: null if the request reached none. `status`: the HTTP status; for gRPC, the status that REST
  // would answer; 0: the client had left.
  void note(const agents::Agent* agent, Protocol protocol, int status, Time took);
  void add_to(base::MetricsText& out) const;

 private:
  static constexpr std::size_t kProtocols = 10;
  static constexpr std::array kStatuses{0,   200, 201, 202, 204, 206, 303, 304, 400, 401, 403, 404, 405,
                                        406, 408, 409, 413, 415, 416, 422, 429, 500, 501, 502, 503};
  using Counts = std::array<std::atomic<std::int64_t>, kStatuses.size() + 1>;  // the last: all others
  using OfAgent = std::array<Counts, kProtocols>;

  OfAgent& of(const agents::Agent* agent);

  base::Guarded<std::unordered_map<const agents::Agent*, std::shared_ptr<OfAgent>>> agents_;
  std::array<base::Histogram, kProtocols> times_{
      base::Histogram(base::kRequestBounds), base::Histogram(base::kRequestBounds),
      base::Histogram(base::kRequestBounds), base::Histogram(base::kRequestBounds),
      base::Histogram(base::kRequestBounds), base::Histogram(base::kRequestBounds),
      base::Histogram(base::kRequestBounds), base::Histogram(base::kRequestBounds),
      base::Histogram(base::kRequestBounds), base::Histogram(base::kRequestBounds)};
};

}  // namespace baton::server
