// Contexts: the certificates of a listener as OpenSSL's contexts, and the choice among them by the name that
// a client asks for: the certificate with that name, then one with a wildcard for it, then the first. If a
// valid certificate with another kind of key has all names of the chosen one, the client gets the one that
// suits it: ECDSA, or RSA if it takes no other.
//
// TLS 1.2 and 1.3, http/1.1 only, no renegotiation. A session is resumed only for the names that it was made
// for. Immutable, so any thread may use it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/tls/certificate.h"
#include "http/tls/peer.h"
#include "http/tls/ticket_keys.h"

namespace baton::http::tls {

// Which certificates clients present.
struct Clients {
  std::string authorities_pem;  // empty: clients are not asked for a certificate
  bool need_certificate = false;

  bool are_asked() const { return !authorities_pem.empty(); }
};

// Returns null if the client has no certificate, or it has not been verified.
std::shared_ptr<const Peer> peer_of(const SSL* ssl);

class Contexts {
 public:
  // `certificates`: at least one. `tickets` is shared with the contexts before and after this one. It is not
  // used if clients are asked for certificates: a session could outlive the trust in one.
  static base::Result<std::shared_ptr<const Contexts>> make(std::vector<Certificate> certificates,
                                                            std::shared_ptr<const TicketKeys> tickets,
                                                            Clients clients = {});

  // The context that a new connection begins with. Its handshake changes to the chosen one.
  SSL_CTX* first() const { return each_.front().context.get(); }
  const std::vector<Certificate>& certificates() const { return certificates_; }
  const Clients& clients() const { return clients_; }
  // The index of the certificate for this name, which may be empty.
  std::size_t chosen(std::string_view name) const;

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  struct One {
    std::unique_ptr<SSL_CTX, Free> context;
    std::string session_id;  // tells the sessions of this certificate's names from others
  };
  Contexts() = default;
  base::Result<void> add(const Certificate& certificate);
  base::Result<void> ask_clients(SSL_CTX* context) const;
  static int on_client_hello(SSL* ssl, int* alert, void* self);

  std::vector<Certificate> certificates_;
  std::shared_ptr<const TicketKeys> tickets_;
  Clients clients_;
  std::vector<One> each_;
};

}  // namespace baton::http::tls
