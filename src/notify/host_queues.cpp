#include "notify/host_queues.h"

#include <algorithm>
#include <array>
#include <vector>

#include "outbound/address.h"
#include "outbound/http_client.h"
#include "outbound/resolver.h"

namespace baton::notify {
namespace {

// The set of slow receivers is cleared at this size, because it is only a hint.
constexpr std::size_t kSlowMax = 10'000;

// Second-level labels below which countries register domains.
constexpr std::array<std::string_view, 14> kSecondLevels{"ac", "co",  "com", "edu", "go",  "gob", "gov",
                                                         "gv", "mil", "ne",  "net", "nom", "or",  "org"};

std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    labels.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return labels;
}

std::string registered_domain(std::string_view name) {
  const std::vector<std::string_view> labels = labels_of(name);
  const std::size_t count = labels.size();
  std::size_t kept = 2;
  const bool is_country = count >= 3 && labels[count - 1].size() == 2;
  if (is_country && std::ranges::find(kSecondLevels, labels[count - 2]) != kSecondLevels.end()) kept = 3;
  return std::string(
      name.substr(static_cast<std::size_t>(labels[count - std::min(kept, count)].data() - name.data())));
}

// "2001:db8:1:2::5" and "2001:db8:1:2::6" are one receiver: the owner of a network has all of its addresses.
std::string network_of(const std::string& address) {
  if (address.find(':') == std::string::npos) return address;
  std::size_t end = 0;
  for (int group = 0; group < 4 && end != std::string::npos; ++group) end = address.find(':', end + 1);
  return address.substr(0, std::min(end, address.find("::")));
}

}  // namespace

std::string receiver_of(std::string_view url) {
  const auto parsed = outbound::parse_url(url);
  if (!parsed) return {};
  std::string_view name = parsed->host;
  if (const auto address = outbound::literal_address(parsed->host)) {
    if (outbound::is_public_address(*address)) return network_of(*address);
  } else {
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.find('.') != std::string_view::npos) return registered_domain(name);
  }
  return std::string(name) + ":" + std::to_string(parsed->port);
}

std::string payer_of(const task::Caller& caller) {
  return caller.value.substr(caller.value.rfind('\x1f') + 1);
}

HostQueues::Added HostQueues::add(Waiting waiting) {
  const ConfigKey key{waiting.delivery.task, waiting.delivery.config_key};
  if (known_.contains(key)) return Added::known;
  Caller& caller = callers_[waiting.caller];
  if (caller.waiting >= kPerCallerMax) return Added::full;
  Host& host = caller.hosts[waiting.host];
  if (host.waiting.size() >= kPerHostMax) return Added::full;
  known_.insert(key);
  ++caller.waiting;
  host.waiting.push_back(std::move(waiting.delivery));
  return Added::added;
}

// Free senders minus the caller's own. At 0 or below the caller gets no other sender. Each sender it takes
// lowers the result by 2: one free sender less, and one more of its own.
int HostQueues::left_for(const Caller& caller) const {
  return senders_ - in_flight_ - caller.in_flight;
}

bool HostQueues::may_send(const std::string& caller, const Caller& has, const std::string& name,
                          const Host& host) const {
  if (host.waiting.empty()) return false;
  if (!slow_.contains({caller, name}))
    return host.in_flight == 0 || (host.in_flight < per_host_ && left_for(has) > 2);
  return host.in_flight == 0 && has.slow_in_flight < std::max(1, senders_ / 4);
}

std::optional<Waiting> HostQueues::next_of(const std::string& caller, Caller& has) {
  auto at = has.hosts.upper_bound(has.turn);
  for (std::size_t i = 0; i < has.hosts.size(); ++i, ++at) {
    if (at == has.hosts.end()) at = has.hosts.begin();
    auto& [name, host] = *at;
    if (!may_send(caller, has, name, host)) continue;
    Waiting taken{caller, name, std::move(host.waiting.front())};
    host.waiting.pop_front();
    if (host.in_flight == 0) host.slow = slow_.contains({caller, name});
    ++host.in_flight;
    --has.waiting;
    ++has.in_flight;
    if (host.slow) ++has.slow_in_flight;
    has.turn = name;
    return taken;
  }
  return {};
}

std::optional<Waiting> HostQueues::next() {
  auto at = callers_.upper_bound(turn_);
  for (std::size_t i = 0; i < callers_.size(); ++i, ++at) {
    if (at == callers_.end()) at = callers_.begin();
    auto& [caller, has] = *at;
    if (has.waiting == 0 || left_for(has) <= 0) continue;
    auto taken = next_of(caller, has);
    if (!taken) continue;
    ++in_flight_;
    turn_ = caller;
    return taken;
  }
  return {};
}

void HostQueues::sent(const Waiting& taken, bool slow) {
  const auto found = callers_.find(taken.caller);
  if (found == callers_.end()) return;
  Caller& caller = found->second;
  const auto at = caller.hosts.find(taken.host);
  if (at == caller.hosts.end()) return;
  Host& host = at->second;
  --host.in_flight;
  --caller.in_flight;
  --in_flight_;
  if (host.slow) --caller.slow_in_flight;
  if (host.in_flight == 0 && host.waiting.empty()) caller.hosts.erase(at);
  if (caller.hosts.empty()) callers_.erase(found);
  if (slow_.size() >= kSlowMax) slow_.clear();
  if (slow) {
    slow_.emplace(taken.caller, taken.host);
  } else {
    slow_.erase({taken.caller, taken.host});
  }
}

void HostQueues::release(const store::Delivery& delivery) {
  known_.erase({delivery.task, delivery.config_key});
}

}  // namespace baton::notify
