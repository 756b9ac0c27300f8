#include "notify/host_queues.h"

#include <algorithm>

namespace baton::notify {
namespace {

// Past this many the memory of who was slow begins anew: it is a help, not a rule.
constexpr std::size_t kSlowMax = 10'000;

}  // namespace

HostQueues::Added HostQueues::add(Waiting waiting) {
  const ConfigKey key{waiting.delivery.task, waiting.delivery.config_key};
  if (known_.contains(key)) return Added::known;
  Host& host = hosts_[waiting.host];
  if (host.waiting.size() >= kPerHostMax) return Added::full;
  known_.insert(key);
  host.waiting.push_back(std::move(waiting.delivery));
  return Added::added;
}

bool HostQueues::may_send(const std::string& name, const Host& host) const {
  if (host.waiting.empty()) return false;
  if (!slow_.contains(name)) return host.in_flight < per_host_;
  return host.in_flight == 0 && slow_in_flight_ < std::max(1, senders_ / 2);
}

std::optional<Waiting> HostQueues::next() {
  if (in_flight_ >= senders_) return {};
  auto at = hosts_.upper_bound(turn_);
  for (std::size_t i = 0; i < hosts_.size(); ++i, ++at) {
    if (at == hosts_.end()) at = hosts_.begin();
    auto& [name, host] = *at;
    if (!may_send(name, host)) continue;
    Waiting taken{name, std::move(host.waiting.front())};
    host.waiting.pop_front();
    if (host.in_flight == 0) host.slow = slow_.contains(name);
    ++host.in_flight;
    ++in_flight_;
    if (host.slow) ++slow_in_flight_;
    turn_ = name;
    return taken;
  }
  return {};
}

void HostQueues::sent(const std::string& name, bool slow) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return;
  Host& host = found->second;
  --host.in_flight;
  --in_flight_;
  if (host.slow) --slow_in_flight_;
  if (host.in_flight == 0 && host.waiting.empty()) hosts_.erase(found);
  if (slow_.size() >= kSlowMax) slow_.clear();
  if (slow) {
    slow_.insert(name);
  } else {
    slow_.erase(name);
  }
}

void HostQueues::release(const store::Delivery& delivery) {
  known_.erase({delivery.task, delivery.config_key});
}

}  // namespace baton::notify
