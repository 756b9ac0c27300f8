// The server of a program that was built without gRPC.
#include "grpc/grpc_server.h"

namespace baton::grpc {

class GrpcServer::Impl {};

GrpcServer::GrpcServer(std::string agent, const server::http::Limits& limits, server::http::Handler handler)
    : agent_(std::move(agent)), limits_(limits), handler_(std::move(handler)) {}
GrpcServer::~GrpcServer() = default;

base::Result<int> GrpcServer::start(const std::string&, int) {
  return base::fail(base::ErrorCode::unsupported, "grpc.port: this program was built without gRPC");
}

void GrpcServer::stop(std::chrono::milliseconds) {}

}  // namespace baton::grpc
