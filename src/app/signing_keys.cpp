#include "app/signing_keys.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "app/files.h"
#include "jose/jwk.h"
#include "jose/signing_key.h"
#include "outbound/http_client.h"

namespace baton::app {
namespace {

constexpr std::size_t kKeyBytesMax = 64 << 10;

tl::unexpected<base::Error> wrong(const std::string& setting, const std::string& file,
                                  const base::Error& error) {
  return base::fail(error.code, setting + ": " + file + ": " + error.for_caller);
}

base::Result<std::string> read_key_file(const std::string& setting, const std::string& file) {
  auto text = read_text_file(file, kKeyBytesMax);
  if (!text) return base::fail(text.error().code, setting + ": " + text.error().for_caller);
  return text;
}

base::Result<jose::Key> read_key(const std::string& setting, const std::string& file) {
  const auto text = read_key_file(setting, file);
  if (!text) return base::fail(text.error());
  auto key = jose::read_signing_key(*text);
  if (!key) return wrong(setting, file, key.error());
  return std::move(key->key);
}

base::Result<jose::JwkSet> read_public(const std::string& setting, const std::string& file) {
  const auto text = read_text_file(file, jose::kJwkSetBytesMax);
  if (!text) return base::fail(text.error().code, setting + ": " + text.error().for_caller);
  auto keys = jose::read_public_keys(*text);
  if (!keys) return wrong(setting, file, keys.error());
  return keys;
}

// Null without a key.
base::Result<std::shared_ptr<const server::CardKeys>> read_card_keys(const CardSecurity& cards) {
  if (cards.signing_key.empty() && cards.published_keys.empty()) return nullptr;
  auto keys = std::make_shared<server::CardKeys>(server::CardKeys{{}, {}, cards.python_signature});
  std::set<std::string> names;
  if (!cards.signing_key.empty()) {
    auto signs = read_key("cards.signing_key", cards.signing_key);
    if (!signs) return base::fail(std::move(signs.error()));
    names.insert(signs->thumbprint());
    keys->signs = std::move(*signs);
  }
  for (const std::string& file : cards.published_keys) {
    const auto more = read_public("cards.published_keys", file);
    if (!more) return base::fail(more.error());
    for (const jose::Jwk& each : more->keys) {
      if (names.insert(each.key.thumbprint()).second) keys->published.push_back(each.key);
    }
  }
  return keys;
}

// Equal for equal rules.
std::string digest_of(const protocol::CardTrust& trust) {
  std::string text = std::to_string(static_cast<int>(trust.policy));
  for (const auto& [origin, keys] : trust.keys) {
    text += "\n" + origin;
    for (const jose::Jwk& each : keys.keys) {
      text.append("\n ").append(each.key.thumbprint()).append(" ").append(each.kid);
      if (each.algorithm) text.append(" ").append(jose::name_of(*each.algorithm));
    }
  }
  return text;
}

}  // namespace

void CardChecks::set(std::shared_ptr<const protocol::CardTrust> trust) {
  const std::string digest = trust ? digest_of(*trust) : std::string();
  state_.with([&](State& state) {
    if (state.digest != digest) ++state.generation;
    state.digest = digest;
    state.trust.swap(trust);
  });
}

outbound::CardRules CardChecks::rules() const {
  const auto accept = [this](std::string_view origin, std::string_view card) -> base::Result<std::string> {
    const auto trust = state_.with([](const State& state) { return state.trust; });
    return trust ? protocol::accepted_card(*trust, origin, card) : std::string(card);
  };
  const auto generation = [this] { return state_.with([](const State& state) { return state.generation; }); };
  return {accept, generation};
}

base::Result<std::shared_ptr<const protocol::CardTrust>> read_card_trust(const CardSecurity& cards) {
  using protocol::CardPolicy;
  auto trust = std::make_shared<protocol::CardTrust>();
  trust->policy = cards.verify == "off"       ? CardPolicy::off
                  : cards.verify == "require" ? CardPolicy::require
                                              : CardPolicy::if_present;
  for (const std::string& pair : cards.trusted_keys) {
    const std::size_t equals = pair.find('=');
    auto keys = read_public("cards.trusted_keys", pair.substr(equals + 1));
    if (!keys) return base::fail(std::move(keys.error()));
    jose::JwkSet& all = trust->keys[outbound::origin_of(std::string_view(pair).substr(0, equals))];
    std::ranges::move(keys->keys, std::back_inserter(all.keys));
  }
  return trust;
}

base::Result<SigningKeys> read_signing_keys(const Config& config) {
  const std::string kWebhooks = "webhooks.signing_keys";
  SigningKeys keys;
  for (const std::string& file : config.webhook_keys) {
    const auto text = read_key_file(kWebhooks, file);
    if (!text) return base::fail(text.error());
    auto key = notify::WebhookKey::read(*text);
    if (!key) return wrong(kWebhooks, file, key.error());
    keys.webhooks.push_back(std::move(*key));
  }
  auto cards = read_card_keys(config.card_security);
  if (!cards) return base::fail(std::move(cards.error()));
  keys.cards = std::move(*cards);
  auto trust = read_card_trust(config.card_security);
  if (!trust) return base::fail(std::move(trust.error()));
  keys.card_trust = std::move(*trust);
  return keys;
}

void log_signing_keys(const SigningKeys& keys) {
  for (const notify::WebhookKey& key : keys.webhooks) {
    const std::string text = key.public_text();
    if (!text.empty()) spdlog::info("webhooks are signed; receivers verify with {}", text);
  }
  if (keys.cards && keys.cards->signs)
    spdlog::info("agent cards are signed with the key {}", keys.cards->signs->thumbprint());
  const protocol::CardTrust* const trust = keys.card_trust.get();
  if (trust != nullptr && trust->policy == protocol::CardPolicy::require && trust->keys.empty())
    spdlog::warn("cards.verify is \"require\" without cards.trusted_keys: no agent elsewhere is called");
}

}  // namespace baton::app
