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
  counts_.with([&](Counts& counts) {
    Server& at = find(counts, server, now);
    ++at.calls[static_cast<std::size_t>(outcome)];
    at.took += took;
    at.used = now;
  });
}

CallCounts::Server& CallCounts::find(Counts& counts, std::string_view name, Time now) {
  auto& servers = counts.servers;
  if (const auto known = servers.find(name); known != servers.end()) return known->second;
  if (servers.size() >= kServersMax) {
    const auto oldest =
        std::ranges::min_element(servers, {}, [](const auto& one) { return one.second.used; });
    if (now - oldest->second.used < kForgottenAfter) return counts.other;
    servers.erase(oldest);
  }
  return servers[std::string(name)];
}

void CallCounts::add_to(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  const Counts counts = counts_.with([](const Counts& now) { return now; });
  const auto for_each = [&](auto&& add) {
    for (const auto& [name, server] : counts.servers) add(name, server);
    if (std::ranges::count(counts.other.calls, 0) < std::ssize(counts.other.calls)) add(kOther, counts.other);
  };
  out.family("baton_outbound_calls_total", Type::counter, "Calls to servers elsewhere, by how they ended.");
  for_each([&](std::string_view name, const Server& server) {
    for (std::size_t at = 0; at < kOutcomeNames.size(); ++at) {
      if (server.calls[at] > 0)
        out.value({{"origin", name}, {"outcome", kOutcomeNames[at]}}, server.calls[at]);
    }
  });
  out.family("baton_outbound_call_seconds_total", Type::counter,
             "Time of these calls, up to the head of the answer.");
  for_each([&](std::string_view name, const Server& server) {
    out.value({{"origin", name}}, std::chrono::duration<double>(server.took).count());
  });
}

}  // namespace baton::outbound
