// CardSigner: signs the cards that this server shows, each text once, and publishes the keys.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "jose/key.h"
#include "server/show/conditional.h"

namespace baton::server {

struct CardKeys {
  std::optional<jose::Key> signs;    // nullopt: nothing is signed
  std::vector<jose::Key> published;  // further ones that clients are shown; each once
  bool signs_python = true;          // see protocol::CardSigning
};

class CardSigner {
 public:
  // `public_url`: this server's, which cards name.
  explicit CardSigner(std::string public_url) : public_url_(std::move(public_url)) {}

  // Signs with these keys from `now` on. Null: signs nothing. All cards are signed anew if that changes them.
  void set(std::shared_ptr<const CardKeys> keys, HttpTime now);
  // When cards last changed by another key; the epoch if they have not.
  HttpTime changed_at() const;

  // The card in the view of 1.0 with its signatures; unchanged if there is no key, or if the card has empty
  // values, which is logged. `agent`, `url`: of the card; the text of the last call for a URL is kept, so
  // that a card has the same bytes for everybody.
  std::string signed_card(const std::string& agent, const std::string& url, std::string card) const;

  // The public keys as a JWK set; empty if there is no key.
  std::string key_set() const;

 private:
  struct Signed {
    std::string card, result;
  };
  struct State {
    std::shared_ptr<const CardKeys> keys;  // shared with calls that are signing
    std::map<std::string, Signed> cards;   // by URL
    HttpTime changed_at{};
  };

  const std::string public_url_;
  mutable base::Guarded<State> state_;
};

// Where the public keys are, below the server's URL.
inline constexpr const char* kCardKeysPath = "/.well-known/jwks.json";

}  // namespace baton::server
