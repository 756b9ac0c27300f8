#include "server/grpc/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/grpc_security_constants.h>

#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"

namespace baton::server::grpc {
namespace {

using http::tls::Certificate;
using http::tls::Contexts;

grpc_ssl_server_certificate_config* config_of(const Contexts& contexts) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Certificate& each : contexts.certificates())
    texts.emplace_back(each.key_pem(), each.chain_pem());
  std::vector<grpc_ssl_pem_key_cert_pair> pairs;
  for (const auto& [key, chain] : texts) pairs.push_back({key.c_str(), chain.c_str()});
  // The library wants authorities of clients even if it asks clients for no certificate, and does not use
  // them.
  const http::tls::Clients& clients = contexts.clients();
  const char* const authorities =
      clients.are_asked() ? clients.authorities_pem.c_str() : pairs.front().cert_chain;
  return grpc_ssl_server_certificate_config_create(authorities, pairs.data(), pairs.size());
}

grpc_ssl_client_certificate_request_type request_type(const http::tls::Clients& clients) {
  if (!clients.are_asked()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return clients.need_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                  : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

// The library has a callback for the certificates of each handshake, but only in its C interface.
class TlsCredentials final : public ::grpc::ServerCredentials {
 public:
  explicit TlsCredentials(const http::tls::Identity& identity)
      : identity_(identity),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                request_type(identity.contexts()->clients()), &TlsCredentials::fetch, this))) {}
  ~TlsCredentials() override { grpc_server_credentials_release(credentials_); }
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  void SetAuthMetadataProcessor(const std::shared_ptr<::grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status fetch(void* self,
                                                         grpc_ssl_server_certificate_config** config) {
    auto& credentials = *static_cast<TlsCredentials*>(self);
    auto now = credentials.identity_.contexts();
    const bool is_new = credentials.used_.with([&](auto& used) { return used != now; });
    if (!is_new) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    *config = config_of(*now);
    if (*config == nullptr) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    credentials.used_.with([&](auto& used) { used = std::move(now); });
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const http::tls::Identity& identity_;
  base::Guarded<std::shared_ptr<const Contexts>> used_;  // that the library has; shared with the identity
  grpc_server_credentials* const credentials_;
};

}  // namespace

std::shared_ptr<::grpc::ServerCredentials> tls_credentials(const http::tls::Identity& identity) {
  return std::make_shared<TlsCredentials>(identity);
}

std::shared_ptr<const http::tls::Peer> peer_of(const ::grpc::AuthContext* context) {
  if (context == nullptr || !context->IsPeerAuthenticated()) return nullptr;
  auto peer = std::make_shared<http::tls::Peer>();
  for (const auto& [property, kind] :
       {std::pair(GRPC_PEER_DNS_PROPERTY_NAME, "DNS:"), std::pair(GRPC_PEER_URI_PROPERTY_NAME, "URI:"),
        std::pair(GRPC_PEER_EMAIL_PROPERTY_NAME, "email:")}) {
    for (const ::grpc::string_ref& name : context->FindPropertyValues(property))
      peer->names.push_back(kind + std::string(name.data(), name.size()));
  }
  return peer;
}

}  // namespace baton::server::grpc
