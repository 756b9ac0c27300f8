// GrpcServer: A2A over gRPC, a2a.v1 (0.3) and lf.a2a.v1 (1.0) on one port: the third binding of the
// operations (server/a2a/operations.h). Messages are read as request values and written from answer values.
//
// Threads: gRPC's own (half of the cores, 2 to 16, whatever the number of calls), the limits' worker_threads
// for decoding and the operations, one that pulls all streams, one that accepts connections. No call has a
// thread of its own. `start` and `stop` from one thread. In a program built without gRPC `start` fails with
// `unsupported`.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "http/http_server.h"
#include "server/a2a/operations.h"
#include "server/grpc/limits.h"
#include "server/shared/endpoint.h"
#include "server/shared/token_source.h"

namespace baton::server::grpc {

// Decides by a call's head whether it may begin: the request's path names the agent, its headers are the
// call's. Called on gRPC's threads before a call is counted, or on any thread after TokenChecks::await, but
// always before a byte of the call's message is kept. An endpoint without an agent is refused.
using Admission = std::function<base::Result<server::Admitted>(const http::Request& head)>;

// The pipeline's stage token, for calls whose token takes long to check. Without functions no call waits.
struct TokenChecks {
  // Whether Admission decides at once about a call with this head. Called on gRPC's threads, like Admission.
  std::function<bool(const http::Request& head)> is_quick;
  // For the others: as TokenSource::await.
  std::function<TokenSource::Wait(const http::Request& head, std::function<void()> done)> await;
};

// Calls an operation.
using Operate =
    std::function<void(const server::a2a::CallPtr&, server::a2a::Operation, server::a2a::Request)>;

// Returns the default agent's name, or an empty string; it may change at any time. Called from any thread.
using DefaultAgent = std::function<std::string()>;

class GrpcServer {
 public:
  // Calls go to the default agent unless their metadata `baton-agent` names another, since gRPC has no paths.
  // The limits are those of HTTP, counted separately: bytes of one request and of all, calls
  // (`connections_max`), streams, unsent bytes, workers and their queue. The times are those of HTTP, too.
  GrpcServer(DefaultAgent default_agent, const http::Limits& limits, Admission admission,
             const GrpcLimits& grpc_limits = {}, Operate operate = &server::a2a::run,
             TokenChecks tokens = {});
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Binds and serves, over TLS if `identity` is given, which must outlive the server. Returns the port that
  // was bound (`port` 0 picks a free one).
  base::Result<int> start(const std::string& host, int port, const http::tls::Identity* identity = nullptr);

  // Refuses new calls with `unavailable` from now on; calls under way continue.
  void drain();

  // Takes no new calls. Calls under way and open streams may continue until they end or `grace` is over.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  const DefaultAgent default_agent_;
  const http::Limits limits_;
  const Admission admission_;
  const GrpcLimits grpc_limits_;
  const Operate operate_;
  const TokenChecks tokens_;
  std::unique_ptr<Impl> impl_;  // once started
};

}  // namespace baton::server::grpc
