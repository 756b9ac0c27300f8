#include "server/grpc/grpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "server/grpc/call.h"
#include "server/grpc/tls_credentials.h"

namespace baton::server::grpc {
namespace {

// gRPC would write to standard error; its errors go to our log instead.
void log_line(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR) spdlog::warn("grpc: {}", line->message);
}

// Refuses a call before it begins.
class Refusal final : public ::grpc::ServerGenericBidiReactor {
 public:
  Refusal(std::shared_ptr<Shared> shared, std::string connection, const ::grpc::Status& status)
      : shared_(std::move(shared)), connection_(std::move(connection)) {
    shared_->connections->begin_refusal(connection_);
    Finish(status);
  }
  void OnDone() override {
    shared_->connections->end_refusal(connection_);
    delete this;
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::string connection_;
};

class Service final : public ::grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  ::grpc::ServerGenericBidiReactor* CreateReactor(::grpc::GenericCallbackServerContext* context) override {
    Peer peer = peer_of(context->peer());
    const auto refuse_with = [&](const ::grpc::Status& status) {
      return new Refusal(shared_, std::move(peer.key), status);
    };
    const protocol::grpc::Method* method = protocol::grpc::find_method(context->method());
    if (!method) return refuse_with({::grpc::StatusCode::UNIMPLEMENTED, "method not found"});
    const auto refuse = [&](const base::Error& error) {
      return refuse_with(shared_->failure(method->version, error));
    };
    if (shared_->draining) {
      return refuse({base::ErrorCode::unavailable, "the server is shutting down; try again", {}});
    }
    auto head = head_of(metadata_of(*context), shared_->default_agent(), shared_->grpc_limits.key_header);
    if (!head) return refuse(head.error());
    head->remote_address = peer.address;
    if (shared_->may_have_certificates) head->certificate = peer_of(context->auth_context().get());
    std::optional<server::Admitted> by;
    if (!shared_->tokens.is_quick || shared_->tokens.is_quick(*head)) {
      auto admitted = shared_->admits(*head);
      if (!admitted) return refuse(admitted.error());
      if (!admitted->endpoint.agent) return refuse_with(no_agent());
      by.emplace(std::move(*admitted));
    }
    if (shared_->calls >= shared_->limits.connections_max) {
      return refuse({base::ErrorCode::overloaded, "too many calls are open; try again later", {}});
    }
    if (!shared_->connections->begin_call(peer.key)) {
      return refuse(
          {base::ErrorCode::overloaded, "too many calls are open on this connection; try again later", {}});
    }
    return GrpcCall::start(shared_, *method, std::move(peer), std::move(by), std::move(*head), *context);
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

int bounded(std::size_t number) {
  return static_cast<int>(std::min<std::size_t>(number, INT_MAX));
}

void set_limits(::grpc::ServerBuilder& builder, const http::Limits& limits, const GrpcLimits& more) {
  constexpr int kPingInterval = 10'000;  // ms, the least a client may leave between pings
  builder.SetMaxReceiveMessageSize(bounded(limits.body_max));
  // No compression: gRPC inflates a whole message before its size is checked and its caller is
  // authenticated.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  ::grpc::ResourceQuota quota("baton");
  builder.SetResourceQuota(quota.Resize(limits.bodies_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, more.calls_per_connection_max);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(limits.header_time.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, bounded(limits.header_bytes_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, static_cast<int>(limits.idle_time.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(limits.keep_awake.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(limits.stall_time.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingInterval);
}

}  // namespace

class GrpcServer::Impl {
 public:
  explicit Impl(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), service_(shared_) {}

  base::Result<int> start(const std::string& host, int port, const http::tls::Identity* identity) {
    gpr_set_log_function(log_line);
    auto listener = http::Listener::open(host, port);
    if (!listener) return base::fail(listener.error());
    const int bound = listener->port();
    ::grpc::ServerBuilder builder;
    using Type = ::grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        Type::FROM_FD,
        identity != nullptr ? tls_credentials(*identity) : ::grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&service_);
    set_limits(builder, shared_->limits, shared_->grpc_limits);
    shared_->connections = std::make_unique<Connections>(
        std::move(*listener), shared_->grpc_limits, shared_->limits, [this](int listening, int connection) {
          ::grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
          parameters.listener_fd = listening;
          parameters.fd = connection;
          acceptor_->HandleNewConnection(&parameters);
        });
    shared_->may_have_certificates = identity != nullptr && identity->contexts()->clients().are_asked();
    server_ = builder.BuildAndStart();
    if (!server_) return base::fail(base::ErrorCode::unavailable, "cannot listen for gRPC");
    shared_->connections->start();
    return bound;
  }

  void drain() { shared_->draining = true; }

  void stop(std::chrono::milliseconds grace) {
    if (shared_->connections) shared_->connections->stop_listening();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + grace);
    if (shared_->connections) shared_->connections->stop();
    shared_->workers.stop();
    shared_->pulls.stop();
  }

 private:
  const std::shared_ptr<Shared> shared_;
  Service service_;
  std::unique_ptr<::grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<::grpc::Server> server_;
};

GrpcServer::GrpcServer(DefaultAgent default_agent, const http::Limits& limits, Admission admission,
                       const GrpcLimits& grpc_limits, Operate operate, TokenChecks tokens)
    : default_agent_(std::move(default_agent)),
      limits_(limits),
      admission_(std::move(admission)),
      grpc_limits_(grpc_limits),
      operate_(std::move(operate)),
      tokens_(std::move(tokens)) {}

GrpcServer::~GrpcServer() {
  stop(std::chrono::milliseconds(0));
}

base::Result<int> GrpcServer::start(const std::string& host, int port, const http::tls::Identity* identity) {
  impl_ = std::make_unique<Impl>(
      std::make_shared<Shared>(default_agent_, limits_, grpc_limits_, admission_, operate_, tokens_));
  return impl_->start(host, port, identity);
}

void GrpcServer::drain() {
  if (impl_) impl_->drain();
}

void GrpcServer::stop(std::chrono::milliseconds grace) {
  if (impl_) impl_->stop(grace);
}

}  // namespace baton::server::grpc
