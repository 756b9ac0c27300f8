#include "http/tls/ssl_outcome.h"

#include <openssl/err.h>

#include <array>

namespace baton::http::tls {

SslOutcome ssl_outcome(const SSL* ssl, int result) {
  if (result > 0) return SslOutcome::done;
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
      return SslOutcome::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return SslOutcome::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      return SslOutcome::ended;
    default:
      return SslOutcome::failed;
  }
}

Failure take_failure() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return {};
  const char* const reason = ERR_reason_error_string(code);
  std::array<char, 256> detail{};
  ERR_error_string_n(code, detail.data(), detail.size());
  return {reason == nullptr ? "" : reason, detail.data()};
}

}  // namespace baton::http::tls
