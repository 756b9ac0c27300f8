#include "outbound/tls_context.h"

#include <openssl/x509.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_stamp.h"
#include "base/guarded.h"

namespace baton::outbound {
namespace {

std::string place_of(const char* variable, const char* otherwise) {
  const char* const named = std::getenv(variable);
  return named != nullptr ? named : otherwise;
}

// Identifies the version of the system's store. Its folders' certificates are files of their own, whose
// replacement changes the folder.
std::string stamp_of_store() {
  std::string stamp =
      base::file_stamp(place_of(X509_get_default_cert_file_env(), X509_get_default_cert_file()));
  const std::string folders = place_of(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
  for (std::string_view rest = folders; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    stamp += base::file_stamp(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return stamp;
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

}  // namespace baton::outbound
