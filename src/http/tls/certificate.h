// Certificate: the chain and the private key that the server presents for some names, read from PEM files and
// checked as a pair. Immutable, so any thread may use it.
#pragma once

#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/tls/files.h"

namespace baton::http::tls {

// Returns the names in the certificate, as OpenSSL shows them: "DNS:name", "URI:name" or "email:name". Other
// kinds are left out. Names keep their case.
std::vector<std::string> names_in(X509* certificate);

// The epoch for a time that OpenSSL cannot read.
std::chrono::sys_seconds time_of(const ASN1_TIME* time);

class Certificate {
 public:
  using Time = std::chrono::sys_seconds;

  // Fails if a file cannot be read or understood, or if the key is not the certificate's. Errors name files
  // and reasons (`for_log`), and never quote a file.
  static base::Result<Certificate> read(const CertificateFiles& files);

  const std::string& file() const { return file_; }
  // Host names, lower case, such as "example.org" and "*.example.org".
  const std::vector<std::string>& names() const { return names_; }
  Time begins() const { return begins_; }
  Time ends() const { return ends_; }
  bool is_valid_at(Time now) const { return begins_ <= now && now < ends_; }

  // `host`: lower case.
  bool has_name(std::string_view host) const;
  // True if one of its wildcards stands for the host.
  bool has_wildcard_for(std::string_view host) const;

  X509* leaf() const { return leaf_.get(); }
  STACK_OF(X509) * others() const { return others_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  std::string chain_pem() const;
  std::string key_pem() const;

 private:
  struct Free {
    void operator()(X509* one) const { X509_free(one); }
    void operator()(STACK_OF(X509) * all) const { sk_X509_pop_free(all, X509_free); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  Certificate() = default;
  base::Result<void> read_chain(const std::string& text);
  base::Result<void> read_key(const std::string& text, const std::string& file);
  void read_names();

  std::string file_;
  std::unique_ptr<X509, Free> leaf_;
  std::unique_ptr<STACK_OF(X509), Free> others_;
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::vector<std::string> names_;
  Time begins_, ends_;
};

}  // namespace baton::http::tls
