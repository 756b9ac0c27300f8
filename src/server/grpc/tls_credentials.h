// The credentials of gRPC's port: each handshake presents the certificates that the server has then. gRPC's
// own ways take a key that does not belong to its certificate, or need a new server for new files.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "http/tls/identity.h"

namespace baton::server::grpc {

// `identity` must outlive the server.
std::shared_ptr<::grpc::ServerCredentials> tls_credentials(const http::tls::Identity& identity);

}  // namespace baton::server::grpc
