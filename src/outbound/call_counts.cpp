#include "outbound/call_counts.h"

#include <algorithm>
#include <utility>

namespace baton::outbound {
namespace {

constexpr std::string_view kOther = "other";
constexpr std::chrono::hours kForgottenAfter{1};
constexpr std::array<std::string_view, 7> kOutcomeNames{"done",        "busy",      "lost",   "refused",
                                                        "unreachable", "forbidden", "stopped"};

}  // namespace

CallCounts::CallCounts(std::function<Time()> now)
    : now_(now ? std::move(now) : [] { return std::chrono::steady_clock::now(); }) {}

void CallCounts::add(std::string_view server, CallOutcome outcome, std::chrono::nanoseconds took) {
  const Time now = now_();
  servers_.with([&](Servers& servers) {
    Server& at = find(servers, server, now);
    ++at.calls[static_cast<std::size_t>(outcome)];
    at.took += took;
    at.used = now;
  });
}

CallCounts::Server& CallCounts::find(Servers& servers, std::string_view name, Time now) {
  if (const auto known = servers.find(name); known != servers.end()) return known->second;
  if (servers.size() >= kServersMax) {
    const auto oldest =
        std::ranges::min_element(servers, {}, [](const auto& one) { return one.second.used; });
    if (now - oldest->second.used < kForgottenAfter) return servers[std::string(kOther)];
    servers.erase(oldest);
  }
  return servers[std::string(name)];
}

void CallCounts::add_to(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  const Servers servers = servers_.with([](const Servers& now) { return now; });
  out.family("baton_outbound_calls_total", Type::counter, "Calls to servers elsewhere, by how they ended.");
  for (const auto& [name, server] : servers) {
    for (std::size_t at = 0; at < kOutcomeNames.size(); ++at) {
      if (server.calls[at] > 0)
        out.value({{"origin", name}, {"outcome", kOutcomeNames[at]}}, server.calls[at]);
    }
  }
  out.family("baton_outbound_call_seconds_total", Type::counter,
             "Time of these calls, up to the head of the answer.");
  for (const auto& [name, server] : servers)
    out.value({{"origin", name}}, std::chrono::duration<double>(server.took).count());
}

}  // namespace baton::outbound
