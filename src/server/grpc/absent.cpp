// The server of a program that was built without gRPC.
#include "server/grpc/grpc_server.h"

namespace baton::server::grpc {

class GrpcServer::Impl {};

GrpcServer::GrpcServer(DefaultAgent default_agent, const http::Limits& limits, Admission admission,
                       const GrpcLimits& grpc_limits, Operate operate, TokenChecks tokens)
    : default_agent_(std::move(default_agent)),
      limits_(limits),
      admission_(std::move(admission)),
      grpc_limits_(grpc_limits),
      operate_(std::move(operate)),
      tokens_(std::move(tokens)) {}
GrpcServer::~GrpcServer() = default;

base::Result<int> GrpcServer::start(const std::string&, int, const http::tls::Identity*) {
  return base::fail(base::ErrorCode::unsupported, "grpc.port: this program was built without gRPC");
}

void GrpcServer::drain() {}
void GrpcServer::stop(std::chrono::milliseconds) {}

}  // namespace baton::server::grpc
