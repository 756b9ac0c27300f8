#include "outbound/tls_context.h"

#include <openssl/x509.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_stamp.h"
#include "base/guarded.h"

namespace baton::outbound {
namespace {

std::string place_of(const char* variable, const char* otherwise) {
  const char* const named = std::getenv(variable);
  return named != nullptr ? named : otherwise;
}

std::string file_of_store() {
  return place_of(X509_get_default_cert_file_env(), X509_get_default_cert_file());
}

std::vector<std::string> folders_of_store() {
  std::vector<std::string> folders;
  const std::string all = place_of(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

// Identifies the version of the system's store. Its folders' certificates are files of their own, whose
// replacement changes the folder.
std::string stamp_of_store() {
  std::string stamp = base::file_stamp(file_of_store());
  for (const std::string& folder : folders_of_store()) stamp += base::file_stamp(folder);
  return stamp;
}

// OpenSSL finds a certificate in a folder by the hash of its subject: "5ad8a5d6.0".
bool is_name_in_folder(std::string_view name) {
  constexpr std::size_t kHash = 8;
  return name.size() > kHash + 1 && name[kHash] == '.' &&
         name.find_first_not_of("0123456789abcdef") == kHash &&
         name.find_first_not_of("0123456789", kHash + 1) == std::string_view::npos;
}

void append_file(std::string& text, const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  std::ifstream file(path, std::ios::binary);
  text.append(std::istreambuf_iterator<char>(file), {}).append(1, '\n');
}

std::shared_ptr<SSL_CTX> make_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (!context || SSL_CTX_set_default_verify_paths(context.get()) != 1 ||
      SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return nullptr;
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // Else a server that renegotiates during a long request would let OpenSSL refuse to write until it has
  // read.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  // A stream that waits for its server keeps no buffers of 34 KiB.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

struct SharedContext {
  std::string stamp;
  std::shared_future<std::shared_ptr<SSL_CTX>> context;
};

}  // namespace

std::shared_ptr<SSL_CTX> client_context() {
  static base::Guarded<SharedContext> shared;
  const std::string stamp = stamp_of_store();
  std::promise<std::shared_ptr<SSL_CTX>> made;
  const auto [context, is_ours] = shared.with([&](SharedContext& now) {
    const bool is_known = now.context.valid() && now.stamp == stamp;
    if (!is_known) now = {stamp, made.get_future().share()};
    return std::pair(now.context, !is_known);
  });
  // Others that need it meanwhile wait for this thread.
  if (is_ours) made.set_value(make_context());
  if (!context.get()) shared.with([&](SharedContext& now) { now = {}; });
  return context.get();
}

std::optional<std::string> named_certificates() {
  if (std::getenv(X509_get_default_cert_file_env()) == nullptr &&
      std::getenv(X509_get_default_cert_dir_env()) == nullptr)
    return std::nullopt;
  std::string text;
  append_file(text, file_of_store());
  for (const std::string& folder : folders_of_store()) {
    std::error_code failed;
    const std::filesystem::directory_iterator end;
    for (std::filesystem::directory_iterator each(folder, failed); !failed && each != end;
         each.increment(failed)) {
      if (is_name_in_folder(each->path().filename().string())) append_file(text, each->path());
    }
  }
  return text;
}

}  // namespace baton::outbound
