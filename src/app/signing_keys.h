// The keys that sign what this server sends, webhooks and cards, and those that cards of others are signed
// with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/config.h"
#include "base/error.h"
#include "base/guarded.h"
#include "notify/webhook_key.h"
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
  // For outbound::Rules::refuse_card. This must outlive it.
  std::function<std::optional<std::string>(std::string_view origin, std::string_view card)> function() const;

 private:
  base::Guarded<std::shared_ptr<const protocol::CardTrust>> trust_;  // shared with running checks
};

// Reads the files that the configuration names. Fails with not_found, too_large or invalid_argument; errors
// name the setting and the file, and quote nothing of it.
base::Result<SigningKeys> read_signing_keys(const Config& config);

// Reads the trusted keys; fails like read_signing_keys. A key's origin is that of the URL before the sign.
base::Result<std::shared_ptr<const protocol::CardTrust>> read_card_trust(const CardSecurity& cards);

// Logs what others need to verify our signatures.
void log_signing_keys(const SigningKeys& keys);

}  // namespace baton::app
