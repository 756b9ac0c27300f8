// The files that a server's certificates are read from.
#pragma once

#include <string>
#include <vector>

namespace baton::http::tls {

struct CertificateFiles {
  std::string chain;  // the server's certificate, then those that it needs to be verified; PEM
  std::string key;    // empty: the key is in the file of the chain
};

struct IdentityFiles {
  std::vector<CertificateFiles> certificates;  // at least one
  // Holds the secret of session tickets, at least 32 bytes; empty: each process makes its own.
  std::string ticket_secret;
  // The authorities of clients' certificates, in PEM; empty: clients are not asked for one.
  std::string client_authorities;
  bool clients_need_certificate = false;
};

}  // namespace baton::http::tls
