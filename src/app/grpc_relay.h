// GrpcRelay: calls this program's own gRPC port, for the console's playground.
//
// The address is always the program's own, never one from a request, and a call carries its caller's token,
// so it can do only what the caller could do with a gRPC client. Threads: any; each call has its own thread.
// `stop` waits until all calls have ended, so stop the gRPC server first.
#pragma once

#include <string>

#include "base/worker_pool.h"
#include "client/grpc_channel.h"
#include "server/operate/grpc_relay.h"

namespace baton::app {

class GrpcRelay {
 public:
  static constexpr int kCallsMax = 4;  // concurrent calls

  // `host`: the address the server listens on, which may be the wildcard address.
  GrpcRelay(const std::string& host, int port, bool is_secure);

  static bool available() { return client::GrpcChannel::available(); }

  // See server::operate::GrpcRelay.
  bool start(server::operate::GrpcCall call, server::operate::OnGrpcMessage on_message,
             server::operate::OnGrpcEnd on_end);
  void stop() { calls_.stop(); }

 private:
  void run(const server::operate::GrpcCall& call, const server::operate::OnGrpcMessage& on_message,
           const server::operate::OnGrpcEnd& on_end) const;

  const client::GrpcChannel channel_;
  base::WorkerPool calls_{"grpc-relay", kCallsMax, kCallsMax};
};

}  // namespace baton::app
