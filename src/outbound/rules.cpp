#include "outbound/rules.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/id.h"
#include "outbound/http_client.h"

namespace baton::outbound {

Rules Rules::of(const Server& server) const {
  Rules own = *this;
  if (server.proxy) own.proxy = *server.proxy;
  return own;
}

AddressPolicy Rules::policy_for(std::string_view url) const {
  const std::string origin = origin_of(url);
  const bool is_allowed =
      std::ranges::any_of(origins, [&](const std::string& allowed) { return origin_of(allowed) == origin; });
  return is_allowed ? AddressPolicy::any() : policy;
}

AddressPolicy Rules::policy_for(std::string_view url, std::initializer_list<std::string_view> named) const {
  const std::string origin = origin_of(url);
  const bool is_named = !origin.empty() && std::ranges::any_of(named, [&](std::string_view own) {
    return origin_of(own) == origin;
  });
  if (is_named) return policy_for(url);
  AddressPolicy for_strangers = policy;
  for_strangers.allow_loopback = false;
  return for_strangers;
}

HttpRequest Rules::request_to(std::string url) const {
  HttpRequest request;
  request.policy = policy_for(url);
  request.url = std::move(url);
  request.proxy = proxy;
  request.breakers = breakers;
  request.counts = counts;
  return request;
}

std::string Rules::refusal_of(std::string_view url) const {
  const auto parsed = parse_url(url);
  if (!parsed || check_target(*parsed, policy_for(url), proxy)) return {};
  AddressPolicy in_development = policy_for(url);
  in_development.allow_loopback = true;
  const bool is_here = check_target(*parsed, in_development, proxy).has_value();
  return "the setting outbound.origins does not allow " + origin_of(url) +
         (is_here ? "; `baton dev` does" : "");
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

}  // namespace baton::outbound
