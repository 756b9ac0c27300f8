#include "outbound/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>

#include "http/tls/ssl_outcome.h"
#include "outbound/tls_context.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using http::tls::SslOutcome;

constexpr std::size_t kRecordMax = 16 * 1024;
constexpr int kFillsMax = 16;  // reads of the socket in one call

// Adds OpenSSL's reason, such as "wrong version number".
tl::unexpected<base::Error> tls_failed(const char* what) {
  const http::tls::Failure failure = http::tls::take_failure();
  return fail(ErrorCode::unavailable, failure.reason.empty() ? what : what + (": " + failure.reason),
              failure.detail);
}

// Returns, for example, "certificate has expired" or "self-signed certificate".
std::string reason_of(long verified, const std::string& host) {
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
    return "its name does not match " + host;
  return X509_verify_cert_error_string(verified);
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

// Removes a final dot: "name." and "name" are one host, and certificates are issued for the latter.
std::string certificate_name(std::string host) {
  if (host.size() > 1 && host.back() == '.') host.pop_back();
  return host;
}

}  // namespace

base::Result<std::unique_ptr<TlsChannel>> TlsChannel::over(std::unique_ptr<Socket> socket,
                                                           const std::string& host) {
  std::unique_ptr<TlsChannel> channel(new TlsChannel(std::move(socket), host));
  if (const auto ready = channel->prepare(); !ready) return fail(ready.error());
  return channel;
}

base::Result<bool> TlsChannel::shake() {
  const auto shaken = drive([&] { return SSL_connect(ssl_.get()); });
  if (!shaken) return fail(shaken.error());
  if (!*shaken) return false;
  if (**shaken != 1) return fail(ErrorCode::unavailable, "cannot establish a TLS connection");
  return true;
}

base::Result<void> TlsChannel::prepare() {
  ERR_clear_error();
  const auto context = client_context();
  if (context) ssl_.reset(SSL_new(context.get()));  // which shares the context
  if (!ssl_) return tls_failed("TLS could not be set up");
  // Uses memory BIOs, because OpenSSL could raise SIGPIPE by writing to the socket itself.
  SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));

  const std::string name = certificate_name(host_);
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int named = is_address(name) ? X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str())
                                     : SSL_set1_host(ssl_.get(), name.c_str());
  if (named != 1) return tls_failed("TLS could not be set up");
  // RFC 6066: an address is not a server name.
  if (!is_address(name) && SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) != 1) {
    return tls_failed("TLS could not be set up");
  }
  return {};
}

template <class Call>
base::Result<std::optional<int>> TlsChannel::drive(Call call) {
  for (int fills = 0;; ++fills) {
    ERR_clear_error();
    const int result = call();
    const SslOutcome outcome = http::tls::ssl_outcome(ssl_.get(), result);
    // Flushes even after a failure, because an alert tells the other side the reason.
    const auto flushed = flush();
    if (outcome == SslOutcome::done) {
      if (!flushed) return fail(flushed.error());
      return result;
    }
    if (outcome == SslOutcome::ended) return 0;
    if (outcome == SslOutcome::failed) {
      const long verified = SSL_get_verify_result(ssl_.get());
      if (verified != X509_V_OK) {
        return fail(ErrorCode::unavailable,
                    "the server's certificate is not trusted: " + reason_of(verified, host_));
      }
      return tls_failed(SSL_is_init_finished(ssl_.get()) ? "the TLS connection was lost"
                                                         : "cannot establish a TLS connection");
    }
    if (!flushed) return fail(flushed.error());
    if (outcome == SslOutcome::wants_write) continue;
    // Records without data, such as changes of keys, must not keep the thread. The descriptor announces the
    // rest.
    if (fills == kFillsMax) return std::nullopt;
    const auto filled = fill();
    if (!filled) return fail(filled.error());
    if (!*filled) return std::nullopt;
  }
}

base::Result<bool> TlsChannel::flush() {
  BIO* out = SSL_get_wbio(ssl_.get());
  if (is_cut_off_) {
    (void)BIO_reset(out);
    return true;
  }
  const auto pass_on = [&](std::string_view bytes) {
    auto taken = socket_->write(bytes);
    is_cut_off_ = !taken;
    return taken;
  };
  std::array<char, kRecordMax> buffer;
  while (true) {
    if (!unsent_.empty()) {
      const auto sent = pass_on(unsent_);
      if (!sent) return fail(sent.error());
      unsent_.erase(0, *sent);
      if (!unsent_.empty()) return false;
    }
    if (BIO_ctrl_pending(out) == 0) break;
    const int size = BIO_read(out, buffer.data(), static_cast<int>(buffer.size()));
    if (size <= 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
    const auto sent = pass_on(bytes);
    if (!sent) return fail(sent.error());
    unsent_ = bytes.substr(*sent);
  }
  unsent_.shrink_to_fit();
  return true;
}

base::Result<bool> TlsChannel::fill() {
  std::array<char, kRecordMax> buffer;
  const auto got = socket_->read(buffer.data(), buffer.size());
  if (!got) return fail(got.error());
  if (!*got) return false;
  // Without a TLS close_notify, an attacker may have truncated the answer.
  if (**got == 0) return fail(ErrorCode::unavailable, "the server closed the connection without an answer");
  BIO_write(SSL_get_rbio(ssl_.get()), buffer.data(), static_cast<int>(**got));
  return true;
}

base::Result<std::optional<std::size_t>> TlsChannel::read(char* buffer, std::size_t size) {
  const int most = static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
  const auto got = drive([&] { return SSL_read(ssl_.get(), buffer, most); });
  if (!got) return fail(got.error());
  if (!*got) return std::nullopt;
  return static_cast<std::size_t>(**got);
}

base::Result<std::size_t> TlsChannel::write(std::string_view bytes) {
  if (is_cut_off_) return fail(ErrorCode::unavailable, "the connection was lost");
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const auto flushed = flush();
    if (!flushed) return fail(flushed.error());
    if (!*flushed) break;
    const int most = static_cast<int>(std::min(bytes.size() - taken, kRecordMax));
    const auto sent = drive([&] { return SSL_write(ssl_.get(), bytes.data() + taken, most); });
    if (!sent) return fail(sent.error());
    // The server changes the keys: OpenSSL wants its bytes first, and the same text again.
    if (!*sent) break;
    if (**sent <= 0) return fail(ErrorCode::unavailable, "the server closed the connection");
    taken += static_cast<std::size_t>(**sent);
  }
  return taken;
}

}  // namespace baton::outbound
