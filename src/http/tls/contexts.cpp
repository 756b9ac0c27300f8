#include "http/tls/contexts.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <set>

#include "base/sha256.h"
#include "http/tls/ssl_outcome.h"

namespace baton::http::tls {
namespace {

constexpr char kCiphers12[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::string_view kHttp11 = "http/1.1";

std::chrono::sys_seconds time_now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

// Fetched once, because each fetch takes as long as encrypting a ticket.
const EVP_CIPHER* ticket_cipher() {
  static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr);
  return cipher;
}

bool set_mac(EVP_MAC_CTX* mac, TicketKeys::Key& key) {
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// OpenSSL's callback (SSL_CTX_set_tlsext_ticket_key_evp_cb). Returns 0 for a full handshake instead, 1 to use
// the ticket, and 2 to use and replace it.
int on_ticket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
              int makes_ticket) {
  const auto* const keys = static_cast<const TicketKeys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  if (makes_ticket == 1) {
    TicketKeys::Key key = keys->newest(time_now());
    std::memcpy(name, key.name.data(), key.name.size());
    const bool is_set = RAND_bytes(iv, EVP_CIPHER_get_iv_length(ticket_cipher())) == 1 &&
                        EVP_EncryptInit_ex(cipher, ticket_cipher(), nullptr, key.cipher.data(), iv) == 1 &&
                        set_mac(mac, key);
    return is_set ? 1 : -1;
  }
  TicketKeys::Found found;
  if (!keys->find({reinterpret_cast<const char*>(name), found.key.name.size()}, time_now(), found)) return 0;
  const bool is_set = set_mac(mac, found.key) &&
                      EVP_DecryptInit_ex(cipher, ticket_cipher(), nullptr, found.key.cipher.data(), iv) == 1;
  if (!is_set) return -1;
  return found.is_newest ? 1 : 2;
}

// Fails the handshake of a client that offers only other protocols, such as h2.
int on_protocols(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                 unsigned int offered_size, void*) {
  for (unsigned int at = 0; at < offered_size; at += offered[at] + 1u) {
    const unsigned int length = std::min<unsigned int>(offered[at], offered_size - at - 1);
    if (std::string_view(reinterpret_cast<const char*>(offered) + at + 1, length) != kHttp11) continue;
    *chosen = offered + at + 1;
    *size = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Returns the host of the extension server_name (RFC 6066), in lower case; empty if there is none.
std::string asked_name(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) != 1) return {};
  // The list's length, then one entry: its type, the name's length, and the name.
  constexpr std::size_t kBefore = 5;
  if (size < kBefore || bytes[2] != TLSEXT_NAMETYPE_host_name) return {};
  const std::size_t length = static_cast<std::size_t>(bytes[3]) << 8 | bytes[4];
  if (length > size - kBefore) return {};
  std::string name(reinterpret_cast<const char*>(bytes) + kBefore, length);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.ends_with('.')) name.pop_back();
  return name;
}

// The digest of the certificate's names: the same after a renewal, and at all servers.
std::string session_id_of(const Certificate& certificate) {
  std::string text;
  for (const std::string& name :
       std::set<std::string>(certificate.names().begin(), certificate.names().end()))
    text += name + '\n';
  static_assert(SSL_MAX_SID_CTX_LENGTH == 32);
  return base::sha256_bytes(text);
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Returns this certificate, and one of each other kind of key that has all its names and is valid now.
std::vector<const Certificate*> with_other_keys(const Certificate& one, const std::vector<Certificate>& all) {
  std::vector<const Certificate*> chosen{&one};
  if (one.names().empty()) return chosen;
  for (const Certificate& other : all) {
    const bool has_names =
        std::ranges::all_of(one.names(), [&](const std::string& name) { return other.has_name(name); });
    const bool has_another_key = std::ranges::none_of(chosen, [&](const Certificate* each) {
      return EVP_PKEY_get_base_id(each->key()) == EVP_PKEY_get_base_id(other.key());
    });
    if (has_names && has_another_key && other.is_valid_at(time_now())) chosen.push_back(&other);
  }
  return chosen;
}

}  // namespace

std::shared_ptr<const Peer> peer_of(const SSL* ssl) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl), &X509_free);
  if (!certificate || SSL_get_verify_result(ssl) != X509_V_OK) return nullptr;
  return std::make_shared<const Peer>(
      Peer{names_in(certificate.get()), time_of(X509_get0_notAfter(certificate.get()))});
}

base::Result<std::shared_ptr<const Contexts>> Contexts::make(std::vector<Certificate> certificates,
                                                             std::shared_ptr<const TicketKeys> tickets,
                                                             Clients clients) {
  std::shared_ptr<Contexts> made(new Contexts);
  made->certificates_ = std::move(certificates);
  made->tickets_ = std::move(tickets);
  made->clients_ = std::move(clients);
  for (const Certificate& each : made->certificates_) {
    if (const auto added = made->add(each); !added) return base::fail(added.error());
  }
  return made;
}

base::Result<void> Contexts::add(const Certificate& certificate) {
  ERR_clear_error();
  One one{std::unique_ptr<SSL_CTX, Free>(SSL_CTX_new(TLS_server_method())), session_id_of(certificate)};
  SSL_CTX* const context = one.context.get();
  const auto refused = [](const Certificate& which) {
    const Failure failure = take_failure();
    return base::fail(base::ErrorCode::invalid_argument, "the TLS certificate cannot be used",
                      which.file() + ": OpenSSL does not accept it: " + failure.reason);
  };
  const bool is_set = context != nullptr && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                      SSL_CTX_set_cipher_list(context, kCiphers12) == 1 &&
                      SSL_CTX_set_session_id_context(context, bytes_of(one.session_id),
                                                     static_cast<unsigned int>(one.session_id.size())) == 1 &&
                      SSL_CTX_set_num_tickets(context, 1) == 1 &&
                      SSL_CTX_set_tlsext_ticket_key_evp_cb(context, &on_ticket) == 1;
  if (!is_set) return refused(certificate);
  // OpenSSL presents the one that suits the client, and prefers ECDSA.
  for (const Certificate* each : with_other_keys(certificate, certificates_)) {
    if (SSL_CTX_use_cert_and_key(context, each->leaf(), each->key(), each->others(), 1) != 1)
      return refused(*each);
  }
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA | SSL_OP_NO_COMPRESSION);
  // Our output moves. A connection that waits keeps no buffers of 34 KiB.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // One receive for a record, instead of one for its head and one for the rest.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_app_data(context, const_cast<TicketKeys*>(tickets_.get()));
  SSL_CTX_set_alpn_select_cb(context, &on_protocols, nullptr);
  SSL_CTX_set_client_hello_cb(context, &Contexts::on_client_hello, this);
  if (clients_.are_asked()) {
    if (const auto asked = ask_clients(context); !asked) return base::fail(asked.error());
  }
  each_.push_back(std::move(one));
  return {};
}

base::Result<void> Contexts::ask_clients(SSL_CTX* context) const {
  constexpr int kDepthMax = 3;
  constexpr long kChainMax = 16 << 10;  // bytes
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(clients_.authorities_pem.data(), static_cast<int>(clients_.authorities_pem.size())),
      &BIO_free);
  int count = 0;
  while (X509* const each = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), each);
    SSL_CTX_add_client_CA(context, each);
    X509_free(each);
    ++count;
  }
  ERR_clear_error();
  if (count == 0)
    return base::fail(base::ErrorCode::invalid_argument, "the authorities of clients cannot be used",
                      "the file of clients' authorities has no certificate in PEM form");
  SSL_CTX_set_verify(
      context, SSL_VERIFY_PEER | (clients_.need_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  SSL_CTX_set_verify_depth(context, kDepthMax);
  SSL_CTX_set_max_cert_list(context, kChainMax);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  return {};
}

std::size_t Contexts::chosen(std::string_view name) const {
  const auto first_with = [&](auto&& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(certificates_, fits) - certificates_.begin());
  };
  const std::size_t exact = first_with([&](const Certificate& each) { return each.has_name(name); });
  if (exact < certificates_.size()) return exact;
  const std::size_t wild = first_with([&](const Certificate& each) { return each.has_wildcard_for(name); });
  return wild < certificates_.size() ? wild : 0;
}

// Runs before OpenSSL looks for the client's session: the callback for the server's name would run too late
// to keep the session of one name from being resumed at another.
int Contexts::on_client_hello(SSL* ssl, int*, void* self) {
  const auto& contexts = *static_cast<const Contexts*>(self);
  const One& one = contexts.each_[contexts.chosen(asked_name(ssl))];
  const bool is_set = SSL_set_SSL_CTX(ssl, one.context.get()) != nullptr &&
                      SSL_set_session_id_context(ssl, bytes_of(one.session_id),
                                                 static_cast<unsigned int>(one.session_id.size())) == 1;
  return is_set ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
}

}  // namespace baton::http::tls
