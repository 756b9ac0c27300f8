// Certificates made for tests, and a client that speaks TLS.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "support/temp_folder.h"

namespace baton::http::tls_files {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

inline std::string text_of(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

inline std::string pem_of(const Key& key) {
  const Bio out(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(out);
}

inline Key new_key() {
  return Key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
}

// A certificate that signs itself. `names`: like "DNS:a.test,DNS:*.b.test". Valid from `begins` to `ends`
// seconds from now.
inline std::string certificate_for(const Key& key, const std::string& names, long begins = -60,
                                   long ends = 3600) {
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), std::time(nullptr));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), begins);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), ends);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1,
                             0);
  X509_set_issuer_name(made.get(), name);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(made.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(made.get(), key.get(), EVP_sha256());
  const Bio out(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_X509(out.get(), made.get());
  return text_of(out);
}

// Writes NAME.pem, with the certificate and its key, and returns its path.
inline std::string write_pair(const test::TempFolder& folder, const std::string& name,
                              const std::string& names, long begins = -60, long ends = 3600) {
  const Key key = new_key();
  return folder.write(name + ".pem", certificate_for(key, names, begins, ends) + pem_of(key)).string();
}

}  // namespace baton::http::tls_files
