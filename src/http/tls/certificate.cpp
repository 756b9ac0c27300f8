#include "http/tls/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "http/tls/ssl_outcome.h"

namespace baton::http::tls {
namespace {

constexpr std::size_t kFileMax = 1 << 20;

tl::unexpected<base::Error> unusable(const std::string& file, const std::string& why) {
  return base::fail(base::ErrorCode::invalid_argument, "the TLS certificate cannot be used",
                    file + ": " + why);
}

base::Result<std::string> text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return unusable(file, "cannot be read: " + std::string(std::strerror(errno)));
  std::string text(kFileMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return unusable(file, "cannot be read");
  if (text.size() > kFileMax) return unusable(file, "is larger than 1 MiB");
  return text;
}

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

Bio reader_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string written(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

// Refuses to ask for a password, which OpenSSL would do on the terminal.
int no_password(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

std::string because(const std::string& what) {
  const Failure failure = take_failure();
  return failure.reason.empty() ? what : what + " (" + failure.reason + ")";
}

}  // namespace

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(timegm(&parts)));
}

base::Result<Certificate> Certificate::read(const CertificateFiles& files) {
  ERR_clear_error();
  Certificate made;
  made.file_ = files.chain;
  const auto chain = text_of(files.chain);
  if (!chain) return base::fail(chain.error());
  if (const auto done = made.read_chain(*chain); !done) return base::fail(done.error());
  const std::string& key_file = files.key.empty() ? files.chain : files.key;
  const auto key = files.key.empty() ? chain : text_of(files.key);
  if (!key) return base::fail(key.error());
  if (const auto done = made.read_key(*key, key_file); !done) return base::fail(done.error());
  if (X509_check_private_key(made.leaf_.get(), made.key_.get()) != 1) {
    ERR_clear_error();
    return unusable(key_file, "its private key does not belong to the certificate in " + files.chain);
  }
  made.read_names();
  made.begins_ = time_of(X509_get0_notBefore(made.leaf_.get()));
  made.ends_ = time_of(X509_get0_notAfter(made.leaf_.get()));
  return made;
}

base::Result<void> Certificate::read_chain(const std::string& text) {
  const Bio in = reader_of(text);
  leaf_.reset(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  if (!leaf_) return unusable(file_, because("has no certificate in PEM form"));
  others_.reset(sk_X509_new_null());
  while (X509* const next = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr))
    sk_X509_push(others_.get(), next);
  const unsigned long last = ERR_peek_last_error();
  const bool is_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  if (!is_end) return unusable(file_, because("has a certificate that cannot be read"));
  ERR_clear_error();
  return {};
}

base::Result<void> Certificate::read_key(const std::string& text, const std::string& file) {
  bool is_encrypted = false;
  key_.reset(PEM_read_bio_PrivateKey(reader_of(text).get(), nullptr, &no_password, &is_encrypted));
  if (key_) return {};
  const std::string why = because("has no private key in PEM form");
  return unusable(file, is_encrypted ? "its private key is encrypted; store it without a password" : why);
}

std::vector<std::string> names_in(X509* certificate) {
  std::vector<std::string> names;
  auto* const all =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const each = sk_GENERAL_NAME_value(all, i);
    const char* const kind = each->type == GEN_DNS     ? "DNS:"
                             : each->type == GEN_URI   ? "URI:"
                             : each->type == GEN_EMAIL ? "email:"
                                                       : nullptr;
    if (kind == nullptr) continue;
    // The three kinds share one member of the union.
    const auto* const text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.ia5));
    names.push_back(kind + std::string(text, static_cast<std::size_t>(ASN1_STRING_length(each->d.ia5))));
  }
  GENERAL_NAMES_free(all);
  return names;
}

void Certificate::read_names() {
  constexpr std::string_view kHost = "DNS:";
  for (std::string& name : names_in(leaf_.get())) {
    if (!name.starts_with(kHost)) continue;
    name.erase(0, kHost.size());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    names_.push_back(std::move(name));
  }
}

bool Certificate::has_name(std::string_view host) const {
  return std::ranges::find(names_, host) != names_.end();
}

// A wildcard stands for exactly one label (RFC 6125, 6.4.3).
bool Certificate::has_wildcard_for(std::string_view host) const {
  const std::size_t dot = host.find('.');
  if (dot == 0 || dot == std::string_view::npos) return false;
  return has_name("*" + std::string(host.substr(dot)));
}

std::string Certificate::chain_pem() const {
  const Bio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), leaf_.get());
  for (int i = 0; i < sk_X509_num(others_.get()); ++i)
    PEM_write_bio_X509(out.get(), sk_X509_value(others_.get(), i));
  return written(out);
}

std::string Certificate::key_pem() const {
  const Bio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(out.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return written(out);
}

}  // namespace baton::http::tls
