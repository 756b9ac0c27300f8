#include "agents/outbound/outbound.h"

#include <algorithm>
#include <cstdint>

#include "base/id.h"
#include "client/remote.h"
#include "http/outbound/http_client.h"

namespace baton::agents {

http::outbound::AddressPolicy OutboundRules::policy_for(std::string_view url) const {
  const std::string origin = client::origin_of(url);
  const bool is_allowed = std::ranges::any_of(
      origins, [&](const std::string& allowed) { return client::origin_of(allowed) == origin; });
  return is_allowed ? http::outbound::AddressPolicy::any() : policy;
}

http::outbound::AddressPolicy OutboundRules::policy_for(std::string_view url,
                                                        std::initializer_list<std::string_view> named) const {
  const std::string origin = client::origin_of(url);
  const bool is_named = !origin.empty() && std::ranges::any_of(named, [&](std::string_view own) {
    return client::origin_of(own) == origin;
  });
  if (is_named) return policy_for(url);
  http::outbound::AddressPolicy for_strangers = policy;
  for_strangers.allow_loopback = false;
  return for_strangers;
}

std::string OutboundRules::refusal_of(std::string_view url) const {
  const auto parsed = http::outbound::parse_url(url);
  if (!parsed || http::outbound::check_target(*parsed, policy_for(url))) return {};
  http::outbound::AddressPolicy in_development = policy_for(url);
  in_development.allow_loopback = true;
  const bool is_here = http::outbound::check_target(*parsed, in_development).has_value();
  return "the setting outbound.origins does not allow " + client::origin_of(url) +
         (is_here ? "; baton dev does" : "");
}

std::vector<std::string> missing_outside(bool has_secret, const std::string& secret,
                                         const std::string& refusal) {
  std::vector<std::string> all;
  if (!has_secret) all.push_back(secret + " is missing");
  if (!refusal.empty()) all.push_back(refusal);
  return all;
}

std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause) {
  const auto half = static_cast<std::uint64_t>(pause.count()) / 2;
  return std::chrono::milliseconds(static_cast<std::int64_t>(half + base::random_number() % (half + 1)));
}

}  // namespace baton::agents
