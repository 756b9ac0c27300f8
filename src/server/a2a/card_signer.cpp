#include "server/a2a/card_signer.h"

#include <optional>
#include <utility>

#include "base/log.h"
#include "base/loggable.h"
#include "jose/jwk.h"
#include "json/writer.h"
#include "protocol/card/signatures.h"

namespace baton::server {
namespace {

// Whether the signatures of the one are those of the other.
bool signs_alike(const std::shared_ptr<const CardKeys>& one, const std::shared_ptr<const CardKeys>& other) {
  const bool signs = one && one->signs, other_signs = other && other->signs;
  if (!signs || !other_signs) return signs == other_signs;
  return one->signs->thumbprint() == other->signs->thumbprint() && one->signs_python == other->signs_python;
}

}  // namespace

void CardSigner::set(std::shared_ptr<const CardKeys> keys, HttpTime now) {
  state_.with([&](State& state) {
    const bool is_same = signs_alike(state.keys, keys);
    state.keys = std::move(keys);
    if (is_same) return;
    state.cards.clear();
    state.changed_at = now;
  });
}

HttpTime CardSigner::changed_at() const {
  return state_.with([](const State& state) { return state.changed_at; });
}

std::string CardSigner::signed_card(const std::string& agent, const std::string& url,
                                    std::string card) const {
  std::shared_ptr<const CardKeys> keys;
  std::optional<std::string> known;
  state_.with([&](const State& state) {
    keys = state.keys;
    const auto found = state.cards.find(url);
    if (found != state.cards.end() && found->second.card == card) known = found->second.result;
  });
  if (!keys || !keys->signs) return card;
  if (known) return *known;
  std::string base = public_url_;
  while (base.ends_with('/')) base.pop_back();
  const auto signed_card =
      protocol::sign_card(card, {*keys->signs, base + kCardKeysPath, keys->signs_python});
  if (!signed_card)
    base::log_warn({{"agent", agent}}, "its card is not signed: {}",
                   base::loggable(signed_card.error().for_caller));
  std::string result = signed_card.value_or(card);
  return state_.with([&](State& state) {
    if (!signs_alike(state.keys, keys)) return result;
    Signed& kept = state.cards[url];
    // Another thread may have signed the same text: everybody gets one of the two.
    if (kept.card != card) kept = {std::move(card), std::move(result)};
    return kept.result;
  });
}

std::string CardSigner::key_set() const {
  const auto keys = state_.with([](const State& state) { return state.keys; });
  std::string text;
  if (!keys) return text;
  json::Writer out(text);
  out.object([&] {
    out.key("keys").array([&] {
      if (keys->signs) out.raw(jose::write_jwk(*keys->signs, keys->signs->algorithm()));
      for (const jose::Key& key : keys->published) out.raw(jose::write_jwk(key, key.algorithm()));
    });
  });
  return text;
}

}  // namespace baton::server
