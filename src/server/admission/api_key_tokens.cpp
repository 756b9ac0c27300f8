#include "server/admission/api_key_tokens.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace baton::server {
namespace {

constexpr std::array<std::string_view, 3> kRoleNames{"caller", "viewer", "operator"};

std::int64_t minute_of(base::Timestamp time) {
  return std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count();
}

std::string remark(std::string_view id, std::string_view what) {
  return "API key " + std::string(id) + " " + std::string(what);
}

}  // namespace

std::string_view name_of(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<Role> role_named(std::string_view name) {
  const auto found = std::ranges::find(kRoleNames, name);
  if (found == kRoleNames.end()) return std::nullopt;
  return static_cast<Role>(found - kRoleNames.begin());
}

std::vector<std::string> split_words(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

std::set<std::string> callers_of(const engine::ApiKeys::Keys& keys, base::Timestamp at) {
  std::set<std::string> callers;
  for (const store::ApiKey& key : keys) {
    const auto role = role_named(key.role);
    if (role && *role != Role::views && key.is_valid(at)) callers.insert(key.caller);
  }
  return callers;
}

// Uses that were not taken yet survive in the new keys.
void ApiKeyTokens::set(const engine::ApiKeys::Keys& keys) {
  const auto before = keys_.with([](const auto& now) { return now; });
  auto map = std::make_shared<Map>();
  for (const store::ApiKey& key : keys) {
    const auto role = role_named(key.role);
    const auto digest = base::read_key_digest(key.digest);
    if (!role || !digest) continue;
    auto known = std::make_shared<Known>();
    known->token = {"", {key.caller}, split_words(key.agents), *role, key.binds_children, Scopes()};
    for (const std::string& scope : split_words(key.scopes)) known->token.scopes.add(scope);
    known->digest = *digest;
    known->is_revoked = key.revoked.has_value();
    known->expires = key.expires;
    if (const auto old = before ? before->find(key.id) : Map::const_iterator();
        before && old != before->end()) {
      known->used = old->second->used.load();
      known->taken = old->second->taken.load();
    }
    map->emplace(key.id, std::move(known));
  }
  keys_.with([&](auto& now) { now = std::move(map); });
}

TokenSource::Found ApiKeyTokens::find(std::string_view secret) {
  const auto parts = base::read_api_key(secret);
  if (!parts) return {nullptr, false, "an API key has a wrong checksum: it is not whole"};
  const auto keys = keys_.with([](const auto& now) { return now; });
  const auto found = keys ? keys->find(std::string(parts->id)) : Map::const_iterator();
  if (!keys || found == keys->end()) return {nullptr, false, remark(parts->id, "is unknown")};
  Known& key = *found->second;
  const base::KeyDigest digest = base::digest_of_key(parts->secret);
  if (CRYPTO_memcmp(digest.data(), key.digest.data(), digest.size()) != 0)
    return {nullptr, false, remark(parts->id, "has a wrong secret")};
  if (key.is_revoked) return {nullptr, false, remark(parts->id, "was revoked")};
  const base::Timestamp now = clock_.now();
  if (key.expires && *key.expires <= now) return {nullptr, false, remark(parts->id, "has expired")};
  note_use(key, now);
  return {.token = TokenPtr(found->second, &key.token), .until = key.expires};
}

TokenPtr ApiKeyTokens::named(std::string_view id) const {
  const auto keys = keys_.with([](const auto& now) { return now; });
  const auto found = keys ? keys->find(std::string(id)) : Map::const_iterator();
  if (!keys || found == keys->end()) return nullptr;
  const Known& key = *found->second;
  if (key.is_revoked || (key.expires && *key.expires <= clock_.now())) return nullptr;
  return TokenPtr(found->second, &key.token);
}

void ApiKeyTokens::note_use(Known& key, base::Timestamp now) {
  const std::int64_t minute = minute_of(now);
  if (key.used.load(std::memory_order_relaxed) == minute) return;
  key.used.store(minute, std::memory_order_relaxed);
  if (!has_used_.exchange(true) && on_used_) on_used_();
}

store::UsedApiKeys ApiKeyTokens::take_used() {
  has_used_ = false;
  store::UsedApiKeys used;
  const auto keys = keys_.with([](const auto& now) { return now; });
  if (!keys) return used;
  for (const auto& [id, key] : *keys) {
    const std::int64_t minute = key->used;
    if (key->taken.exchange(minute) == minute) continue;
    used.keys.emplace_back(id, base::Timestamp(std::chrono::minutes(minute)));
  }
  return used;
}

}  // namespace baton::server
