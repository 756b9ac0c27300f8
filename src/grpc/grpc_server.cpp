#include "grpc/grpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <climits>

#include "grpc/call.h"

namespace baton::grpc {
namespace {

// gRPC writes to standard error by itself; ours is one log.
void log_line(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR) spdlog::warn("grpc: {}", line->message);
}

// A call that is over before it began.
class Refusal final : public ::grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const ::grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class Service final : public ::grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  ::grpc::ServerGenericBidiReactor* CreateReactor(::grpc::GenericCallbackServerContext* context) override {
    const Method* method = find_method(context->method());
    if (!method) return new Refusal({::grpc::StatusCode::UNIMPLEMENTED, "there is no such method"});
    if (shared_->calls >= shared_->limits.connections_max) {
      return new Refusal({::grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls are open"});
    }
    return Call::begin(shared_, *method, *context);
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

std::string address_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

int bounded(std::size_t number) {
  return static_cast<int>(std::min<std::size_t>(number, INT_MAX));
}

void set_limits(::grpc::ServerBuilder& builder, const server::http::Limits& limits) {
  constexpr int kPingInterval = 10'000;  // of a client's pings at least
  builder.SetMaxReceiveMessageSize(bounded(limits.body_max));
  // gRPC inflates a message whole before it looks at how long it is, and before anybody asks who sent it.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  ::grpc::ResourceQuota quota("baton");
  builder.SetResourceQuota(quota.Resize(limits.bodies_max));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, bounded(limits.header_bytes_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, static_cast<int>(limits.idle_time.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(limits.keep_awake.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(limits.stall_time.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingInterval);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const std::string& agent, const server::http::Limits& limits, server::http::Handler handler)
      : shared_(std::make_shared<Shared>(agent, limits, std::move(handler))), service_(shared_) {}

  base::Result<int> start(const std::string& host, int port) {
    gpr_set_log_function(log_line);
    const std::string address = address_of(host, port);
    int bound = 0;
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort(address, ::grpc::InsecureServerCredentials(), &bound);
    builder.RegisterCallbackGenericService(&service_);
    set_limits(builder, shared_->limits);
    server_ = builder.BuildAndStart();
    if (server_ && bound > 0) return bound;
    return base::fail(base::ErrorCode::unavailable, "cannot listen for gRPC",
                      "cannot listen for gRPC on " + address);
  }

  void stop(std::chrono::milliseconds grace) {
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + grace);
    shared_->workers.stop();
    shared_->pulls.stop();
  }

 private:
  const std::shared_ptr<Shared> shared_;
  Service service_;
  std::unique_ptr<::grpc::Server> server_;
};

GrpcServer::GrpcServer(std::string agent, const server::http::Limits& limits, server::http::Handler handler)
    : agent_(std::move(agent)), limits_(limits), handler_(std::move(handler)) {}

GrpcServer::~GrpcServer() {
  stop(std::chrono::milliseconds(0));
}

base::Result<int> GrpcServer::start(const std::string& host, int port) {
  impl_ = std::make_unique<Impl>(agent_, limits_, handler_);
  return impl_->start(host, port);
}

void GrpcServer::stop(std::chrono::milliseconds grace) {
  if (impl_) impl_->stop(grace);
}

}  // namespace baton::grpc
