#include "app/signing_keys.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "app/files.h"

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

}  // namespace

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
  return keys;
}

void log_signing_keys(const SigningKeys& keys) {
  for (const notify::WebhookKey& key : keys.webhooks) {
    const std::string text = key.public_text();
    if (!text.empty()) spdlog::info("webhooks are signed; receivers verify with {}", text);
  }
}

}  // namespace baton::app
