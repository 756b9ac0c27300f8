#include "app/descriptors.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace baton::app {
namespace {

// Descriptors that connections must leave free. Without them no agent can be started, no row read and no
// webhook sent; connections can wait outside.
std::size_t descriptor_reserve(const Config& config, const agents::Catalogue& catalogue) {
  constexpr std::size_t kBase = 64;      // the log, listeners, event loops, libraries
  constexpr std::size_t kProcess = 4;    // three streams and the process itself
  constexpr std::size_t kStarting = 8;   // the pipes of the process that is being started
  constexpr std::size_t kDatabase = 32;  // a few connections with three files each
  constexpr std::size_t kWebhook = 4;    // a connection, and the look-up of a name
  std::size_t turns = 0, workers = 0;
  for (const agents::Agent* agent : catalogue.all()) {
    const agents::AgentSettings& settings = agent->settings;
    const bool is_worker = settings.mode == agents::AgentSettings::Mode::worker;
    // Retired workers may run as long as their turns do.
    if (is_worker) workers += 2 * static_cast<std::size_t>(settings.workers);
    if (!is_worker) turns += static_cast<std::size_t>(settings.concurrency);
  }
  turns = std::min(turns, static_cast<std::size_t>(config.engine.slots));
  return kBase + kDatabase + kStarting + kProcess * (turns + workers) +
         kWebhook * static_cast<std::size_t>(config.webhooks.senders);
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

http::Limits http_limits(const Config& config, const agents::Catalogue& catalogue, std::size_t descriptors) {
  http::Limits limits = config.http;
  const std::size_t reserve = std::min(descriptor_reserve(config, catalogue), descriptors / 2);
  // Connections that are only told that there are too many: an eighth more, and at most 256 (ConnectionLoop).
  const std::size_t left = descriptors - reserve;
  std::size_t most = std::max(left - left / 9, left - std::min<std::size_t>(left, 256));
  // gRPC may have as many connections as HTTP, at two descriptors each.
  if (config.grpc_port != Config::kGrpcOff) most /= 3;
  if (static_cast<std::size_t>(limits.connections_max) <= most) return limits;
  spdlog::warn(
      "connections_max is lowered from {} to {}: the system allows {} open files, and {} are kept for "
      "agents, "
      "the database and webhooks",
      limits.connections_max, most, descriptors, reserve);
  limits.connections_max = static_cast<int>(most);
  return limits;
}

}  // namespace baton::app
