#include "http/tls/identity.h"

#include <openssl/x509.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/file_stamp.h"

namespace baton::http::tls {
namespace {

base::Result<std::string> read_ticket_secret(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  const auto unusable = [&](const std::string& why) {
    return base::fail(base::ErrorCode::invalid_argument, "the secret of session tickets cannot be used",
                      file + ": " + why);
  };
  if (!in) return unusable("cannot be read");
  std::string secret(4096, '\0');
  in.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  secret.resize(static_cast<std::size_t>(in.gcount()));
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  if (secret.size() < TicketKeys::kSecretMin)
    return unusable("must have at least " + std::to_string(TicketKeys::kSecretMin) + " bytes");
  return secret;
}

base::Result<std::string> read_authorities(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in && text.find("-----BEGIN") != std::string::npos) return text;
  return base::fail(base::ErrorCode::invalid_argument, "the authorities of clients cannot be used",
                    file + ": cannot be read, or has no certificate in PEM form");
}

std::chrono::sys_seconds today() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

base::Result<std::unique_ptr<Identity>> Identity::open(IdentityFiles files) {
  std::unique_ptr<Identity> made(new Identity);
  if (const auto taken = made->load(files, false); !taken) return base::fail(taken.error());
  return made;
}

base::Result<void> Identity::reload(IdentityFiles files) {
  files_ = std::move(files);  // if they cannot be used, the next looks try them again
  return load(IdentityFiles(files_), true);
}

std::optional<base::Result<void>> Identity::look() {
  if (stamp_of(files_) == stamp_) return std::nullopt;
  return load(IdentityFiles(files_), true);
}

std::string Identity::stamp_of(const IdentityFiles& files) {
  std::string stamp = base::file_stamp(files.ticket_secret) + base::file_stamp(files.client_authorities);
  for (const CertificateFiles& each : files.certificates)
    stamp += base::file_stamp(each.chain) + base::file_stamp(each.key);
  return stamp;
}

bool Identity::is_served(const Certificate& certificate) const {
  const auto now = contexts();
  return now && std::ranges::any_of(now->certificates(), [&](const Certificate& each) {
           return X509_cmp(each.leaf(), certificate.leaf()) == 0;
         });
}

base::Result<void> Identity::load(const IdentityFiles& files, bool only_valid) {
  // Before the files are read: a change during that is found at the next look.
  std::string stamp = stamp_of(files);
  std::vector<Certificate> certificates;
  for (const CertificateFiles& each : files.certificates) {
    auto read = Certificate::read(each);
    if (!read) return base::fail(read.error());
    // An expired one that is served already does not keep others from being replaced.
    if (only_valid && !read->is_valid_at(today()) && !is_served(*read))
      return base::fail(
          base::ErrorCode::invalid_argument, "the TLS certificate cannot be used",
          each.chain + (read->ends() <= today() ? ": it has expired" : ": it is not valid yet"));
    certificates.push_back(std::move(*read));
  }
  auto secret = read_ticket_secret(files.ticket_secret);
  if (!secret) return base::fail(secret.error());
  std::shared_ptr<const TicketKeys> tickets = tickets_;
  if (!tickets || *secret != ticket_secret_)
    tickets =
        secret->empty() ? std::make_shared<const TicketKeys>() : std::make_shared<const TicketKeys>(*secret);
  auto authorities = read_authorities(files.client_authorities);
  if (!authorities) return base::fail(authorities.error());
  auto contexts = Contexts::make(std::move(certificates), tickets,
                                 {std::move(*authorities), files.clients_need_certificate});
  if (!contexts) return base::fail(contexts.error());
  now_.with([&](Now& current) { std::swap(current.contexts, *contexts); });
  tickets_ = std::move(tickets);
  ticket_secret_ = std::move(*secret);
  files_ = files;
  stamp_ = std::move(stamp);
  return {};
}

}  // namespace baton::http::tls
