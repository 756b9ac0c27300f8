// GrpcServer: A2A over gRPC, a2a.v1 (0.3) and lf.a2a.v1 (1.0) on one port. It is a front: each call becomes
// the REST request of its generation and goes to the same handler, and what that answers becomes the call's
// answer (grpc/methods.h, grpc/call_status.h). So operations, access and errors are those of REST.
//
// Threads: gRPC's own (half of the cores, 2 to 16, whatever the number of calls), the limits' worker_threads
// for the handler, one that pulls all streams; none belongs to a call. `start` and `stop` from one thread.
// In a program built without gRPC `start` fails, and says so.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "server/http/http_server.h"

namespace baton::grpc {

class GrpcServer {
 public:
  // `agent`: the name of the one that calls are for; only the metadata `baton-agent` names another, since
  // gRPC has no paths. The limits are those of HTTP, each for itself: bytes of one request and of all, calls
  // (its connections), streams, workers and their queue.
  GrpcServer(std::string agent, const server::http::Limits& limits, server::http::Handler handler);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Binds and serves. Returns the port that was bound (`port` 0 picks a free one).
  base::Result<int> start(const std::string& host, int port);

  // No new calls; those being answered and open streams may go on until they end or `grace` is over.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  const std::string agent_;
  const server::http::Limits limits_;
  const server::http::Handler handler_;
  std::unique_ptr<Impl> impl_;  // once started
};

}  // namespace baton::grpc
