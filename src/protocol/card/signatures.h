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
};
// A key that a signature does not name is tried, too: `kid` is a hint.
CardCheck check_signatures(json::Value card, const jose::JwkSet& known);

// Which cards are accepted.
enum class CardPolicy : std::uint8_t {
  off,         // all
  if_present,  // all but those whose signature is wrong
  require,     // only those with a good signature
};

// What decides about the cards of agents elsewhere.
struct CardTrust {
  CardPolicy policy = CardPolicy::if_present;
  std::map<std::string, jose::JwkSet, std::less<>> keys;  // of each origin
};
// Why a card from the origin is refused; nullopt if it is accepted. A text that is no JSON object is
// accepted: its reader refuses it.
std::optional<std::string> card_refusal(const CardTrust& trust, std::string_view origin,
                                        std::string_view card);

}  // namespace baton::protocol
