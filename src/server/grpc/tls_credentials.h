// The credentials of gRPC's port: each handshake presents the certificates that the server has then. gRPC's
// own ways take a key that does not belong to its certificate, or need a new server for new files.
#pragma once

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "http/tls/identity.h"
#include "http/tls/peer.h"

namespace baton::server::grpc {

// `identity` must outlive the server.
std::shared_ptr<::grpc::ServerCredentials> tls_credentials(const http::tls::Identity& identity);

// Returns the names in the certificate of the call's client; null if it has none.
std::shared_ptr<const http::tls::Peer> peer_of(const ::grpc::AuthContext* context);

}  // namespace baton::server::grpc
