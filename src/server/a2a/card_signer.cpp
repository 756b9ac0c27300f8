#include "server/a2a/card_signer.h"

#include <optional>
#include <utility>

#include "base/log.h"
#include "base/loggable.h"
#include "jose/jwk.h"
#include "json/writer.h"
#include "protocol/card/signatures.h"

namespace baton::server {

void CardSigner::set(std::shared_ptr<const CardKeys> keys) {
  state_.with([&](State& state) {
    state.keys = std::move(keys);
    state.cards.clear();
  });
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
  if (!keys) return card;
  if (known) return *known;
  std::string base = public_url_;
  while (base.ends_with('/')) base.pop_back();
  const auto signed_card = protocol::sign_card(card, {keys->signs, base + kCardKeysPath, keys->signs_python});
  if (!signed_card)
    base::log_warn({{"agent", agent}}, "its card is not signed: {}",
                   base::loggable(signed_card.error().for_caller));
  std::string result = signed_card.value_or(card);
  return state_.with([&](State& state) {
    if (state.keys != keys) return result;
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
      out.raw(jose::write_jwk(keys->signs, keys->signs.algorithm()));
      for (const jose::Key& key : keys->published) out.raw(jose::write_jwk(key, key.algorithm()));
    });
  });
  return text;
}

}  // namespace baton::server
