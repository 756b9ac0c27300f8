// The TLS context that all connections of our own share. Making one reads every certificate of the system's
// store, which takes 20 ms of CPU.
//
// Threads: any.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

namespace baton::outbound {

// Returns the context: TLS 1.2 or later, and the other side must present a certificate that an authority in
// the system's store has signed (SSL_CERT_FILE and SSL_CERT_DIR are honoured, as usual with OpenSSL). It is
// made anew once the store's file or folders have changed; connections keep the one that they have begun
// with. Null if there is no memory for it.
std::shared_ptr<SSL_CTX> client_context();

// The same certificates as text (PEM), for a library with a store of its own; nullopt if neither variable is
// set.
std::optional<std::string> named_certificates();

}  // namespace baton::outbound
