// Signatures of cards (A2A 1.0, section 8.4): ours, and those of cards elsewhere.
//
// A signature is a JWS over a canonical text of the card (signed_forms.h), which is not in it. Threads: any;
// pure functions and values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "jose/jwk.h"
#include "json/document.h"

namespace baton::protocol {

struct CardSigning {
  const jose::Key& key;
  std::string keys_url;      // where the public key is (`jku`); empty: not said
  bool signs_python = true;  // also the text that a2a-python makes, if that differs
};
// Returns the card, a JSON object in the view of 1.0, with `signatures`: one for each of its canonical texts
// that differs from the earlier ones, first that of the SDKs. Fails with invalid_argument if the card has
// empty values (empty_values) or no canonical text.
base::Result<std::string> sign_card(const std::string& card, const CardSigning& signing);

struct CardCheck {
  enum class Outcome {
    absent,       // the card has no signature
    unknown_key,  // none of its signatures is of a key that we know
    wrong,        // one names a key that we know, and is none of that key: the card was changed
    good
  };
  Outcome outcome = Outcome::absent;
  std::string kid;          // of the signature that decided; empty: it names no key
  std::string_view form{};  // of a good signature: name_of the canonical text
  std::string text{};       // of a good signature: that text, a card. Nothing else is covered
};
// A key that a signature does not name is tried, too: `kid` is a hint. Of several good signatures, the one of
// the fullest text decides. A card without any member of its own counts as unsigned, and one with many
// signatures is checked with a bounded number of tries.
CardCheck check_signatures(json::Value card, const jose::JwkSet& known);

// Which cards are accepted.
enum class CardPolicy : std::uint8_t {
  off,         // all
  if_present,  // all but those with a wrong signature or, if we have keys of the origin, none that verifies
  require,     // only those with a good signature
};

// The rules for the cards of agents elsewhere.
struct CardTrust {
  CardPolicy policy = CardPolicy::if_present;
  std::map<std::string, jose::JwkSet, std::less<>> keys;  // of each origin
};
// Returns the text to read a card of the origin from: the text that its signature covers if that is good,
// else the card as it is. Fails with permission_denied and the reason if the card is refused. A text that is
// no JSON object is refused unless the policy is off. Empty text: the agent has no card.
base::Result<std::string> accepted_card(const CardTrust& trust, std::string_view origin,
                                        std::string_view card);

}  // namespace baton::protocol
