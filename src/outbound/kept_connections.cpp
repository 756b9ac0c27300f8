#include "outbound/kept_connections.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace baton::outbound {
namespace {

KeptConnections::Options with_clock(KeptConnections::Options options) {
  if (!options.now) options.now = [] { return std::chrono::steady_clock::now(); };
  return options;
}

}  // namespace

KeptConnections::KeptConnections(Options options) : options_(with_clock(std::move(options))) {}

KeptConnections::Connection KeptConnections::take(const std::string& key) {
  while (true) {
    All taken, gone;  // closed outside the lock
    all_.with([&](All& all) {
      drop_old(all, gone);
      const auto last =
          std::find_if(all.rbegin(), all.rend(), [&](const Kept& one) { return one.key == key; });
      if (last != all.rend()) taken.splice(taken.end(), all, std::prev(last.base()));
    });
    if (taken.empty()) return {};
    Connection& last = taken.front().connection;
    if (last.channel->is_quiet() && !is_too_old(last)) return std::move(last);
  }
}

void KeptConnections::keep(std::string key, Connection connection) {
  if (is_too_old(connection)) return;
  All kept, gone;  // closed outside the lock
  kept.push_back({std::move(key), std::move(connection), options_.now()});
  all_.with([&](All& all) {
    drop_old(all, gone);
    const auto is_same = [&](const Kept& one) { return one.key == kept.front().key; };
    const auto same = static_cast<std::size_t>(std::ranges::count_if(all, is_same));
    if (same >= options_.server_max) {
      gone.splice(gone.end(), all, std::ranges::find_if(all, is_same));
    } else if (all.size() >= options_.all_max) {
      gone.splice(gone.end(), all, all.begin());
    }
    all.splice(all.end(), kept);
  });
}

bool KeptConnections::is_too_old(const Connection& connection) const {
  return options_.now() - connection.opened >= options_.lifetime_max;
}

void KeptConnections::drop_old(All& all, All& gone) const {
  const SteadyTime oldest = options_.now() - options_.time_max;
  while (!all.empty() && all.front().since <= oldest) gone.splice(gone.end(), all, all.begin());
}

}  // namespace baton::outbound
