#include "server/shared/request_stats.h"

#include <algorithm>
#include <map>

namespace baton::server {

std::string_view name_of(Protocol protocol) {
  constexpr std::array<std::string_view, 10> kNames{
      "a2a-jsonrpc", "a2a-rest",     "a2a-grpc", "send-message", "ag-ui",
      "agent-api",   "agent-server", "mcp",      "openai",       "other"};
  return kNames[static_cast<std::size_t>(protocol)];
}

// An agent's address is a safe key: agents live until the program ends, even if a reload replaces them.
RequestStats::OfAgent& RequestStats::of(const agents::Agent* agent) {
  return *agents_.with([&](auto& agents) {
    auto& place = agents[agent];
    if (!place) place = std::make_shared<OfAgent>();
    return place.get();
  });
}

void RequestStats::note(const agents::Agent* agent, Protocol protocol, int status, Time took) {
  const auto place = std::ranges::find(kStatuses, status) - kStatuses.begin();
  Counts& counts = of(agent)[static_cast<std::size_t>(protocol)];
  counts[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
  times_[static_cast<std::size_t>(protocol)].observe(took);
}

void RequestStats::add_to(base::MetricsText& out) const {
  // Adds up by name: an agent whose card has changed has had several addresses.
  using Sums = std::array<std::array<std::int64_t, kStatuses.size() + 1>, kProtocols>;
  std::map<std::string, Sums> by_name;
  agents_.with([&](const auto& agents) {
    for (const auto& [agent, counts] : agents) {
      Sums& sums = by_name[agent == nullptr ? std::string() : agent->name.value];
      for (std::size_t i = 0; i < kProtocols; ++i) {
        for (std::size_t j = 0; j < sums[i].size(); ++j)
          sums[i][j] += (*counts)[i][j].load(std::memory_order_relaxed);
      }
    }
  });
  using Type = base::MetricsText::Type;
  out.family("baton_requests_total", Type::counter,
             "Requests answered, by HTTP status; 0: the client had disconnected.");
  for (const auto& [name, sums] : by_name) {
    for (std::size_t i = 0; i < kProtocols; ++i) {
      for (std::size_t j = 0; j < sums[i].size(); ++j) {
        if (sums[i][j] == 0) continue;
        const std::string code = j < kStatuses.size() ? std::to_string(kStatuses[j]) : "other";
        out.value({{"agent", name}, {"protocol", name_of(static_cast<Protocol>(i))}, {"code", code}},
                  sums[i][j]);
      }
    }
  }
  out.family("baton_request_duration_seconds", Type::histogram,
             "Time from a complete request to its answer, or to the start of its stream, in seconds.");
  for (std::size_t i = 0; i < kProtocols; ++i) {
    const auto taken = times_[i].snapshot();
    if (taken.count > 0) out.histogram({{"protocol", name_of(static_cast<Protocol>(i))}}, taken);
  }
}

}  // namespace baton::server
