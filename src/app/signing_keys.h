// The keys that sign what this server sends, webhooks and cards, and those that cards of others are signed
// with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/config.h"
#include "base/error.h"
#include "base/guarded.h"
#include "notify/webhook_key.h"
#include "outbound/rules.h"
#include "protocol/card/signatures.h"
#include "server/a2a/card_signer.h"

namespace baton::app {

struct SigningKeys {
  notify::WebhookKeys webhooks;
  std::shared_ptr<const server::CardKeys> cards;  // null: cards are not signed; shared with the signer
  std::shared_ptr<const protocol::CardTrust> card_trust;  // shared with CardChecks
};

// CardChecks: decides about the cards of agents elsewhere, by keys that a reload may replace. Threads: any.
class CardChecks {
 public:
  void set(std::shared_ptr<const protocol::CardTrust> trust);
  // This must outlive them.
  outbound::CardRules rules() const;

 private:
  struct State {
    std::shared_ptr<const protocol::CardTrust> trust;  // shared with running checks
    std::string digest;                                // of what `trust` says
    std::uint64_t generation = 0;                      // how often that has changed
  };
  base::Guarded<State> state_;
};

// Reads the files that the configuration names. Fails with not_found, too_large or invalid_argument; errors
// name the setting and the file, and quote nothing of it.
base::Result<SigningKeys> read_signing_keys(const Config& config);

// Reads the trusted keys; fails like read_signing_keys. A key's origin is that of the URL before the sign.
base::Result<std::shared_ptr<const protocol::CardTrust>> read_card_trust(const CardSecurity& cards);

// Logs what others need to verify our signatures.
void log_signing_keys(const SigningKeys& keys);

}  // namespace baton::app
