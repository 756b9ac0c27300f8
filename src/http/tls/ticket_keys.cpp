#include "http/tls/ticket_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace baton::http::tls {
namespace {

constexpr std::chrono::hours kPeriod{12};

std::string random_secret() {
  std::string secret(TicketKeys::kSecretMin, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), static_cast<int>(secret.size())) != 1)
    throw std::runtime_error("no random bytes for session tickets");
  return secret;
}

// A pseudo-random function of the secret: HMAC-SHA256 of the purpose and the period.
template <std::size_t N>
void derive(const std::string& secret, const std::string& purpose, std::int64_t period,
            std::array<unsigned char, N>& out) {
  static_assert(N <= 32);
  const std::string text = "baton session ticket " + purpose + " " + std::to_string(period);
  std::array<unsigned char, 32> whole{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), whole.data(), &size) == nullptr)
    throw std::runtime_error("cannot derive the keys of session tickets");
  std::memcpy(out.data(), whole.data(), N);
}

}  // namespace

TicketKeys::TicketKeys() : TicketKeys(random_secret()) {}

TicketKeys::TicketKeys(std::string secret) : secret_(std::move(secret)) {}

TicketKeys::~TicketKeys() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

TicketKeys::Key TicketKeys::make(std::int64_t period) const {
  Key key;
  derive(secret_, "name", period, key.name);
  derive(secret_, "mac", period, key.mac);
  derive(secret_, "cipher", period, key.cipher);
  return key;
}

TicketKeys::Made TicketKeys::keys_at(Time now) const {
  const std::int64_t period = now.time_since_epoch() / kPeriod;
  const Made known = made_.with([](const Made& made) { return made; });
  if (known.period == period) return known;
  const Made fresh{period, {make(period - 1), make(period), make(period + 1)}};
  made_.with([&](Made& made) { made = fresh; });
  return fresh;
}

TicketKeys::Key TicketKeys::newest(Time now) const {
  return keys_at(now).keys[1];
}

bool TicketKeys::find(std::string_view name, Time now, Found& found) const {
  const Made made = keys_at(now);
  for (std::size_t i = 0; i < made.keys.size(); ++i) {
    const Key& key = made.keys[i];
    if (name.size() != key.name.size() || std::memcmp(name.data(), key.name.data(), name.size()) != 0)
      continue;
    found = {key, i == 1};
    return true;
  }
  return false;
}

}  // namespace baton::http::tls
