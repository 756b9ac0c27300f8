// The keys that sign what this server sends: webhooks.
#pragma once

#include "app/config.h"
#include "base/error.h"
#include "notify/webhook_key.h"

namespace baton::app {

struct SigningKeys {
  notify::WebhookKeys webhooks;
};

// Reads the files that the configuration names. Fails with not_found, too_large or invalid_argument; errors
// name the setting and the file, and quote nothing of it.
base::Result<SigningKeys> read_signing_keys(const Config& config);

// Logs what receivers need to verify signatures.
void log_signing_keys(const SigningKeys& keys);

}  // namespace baton::app
