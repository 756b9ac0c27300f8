// GrpcRelay: calls this program's own gRPC port, for the console's playground.
//
// The address is the program's own and never a request's, and a call has its caller's token, so it can do
// nothing that the caller could not do with a gRPC client. Threads: any; calls have threads of their own.
// `stop` waits until all are over, which the end of the gRPC server brings about.
#pragma once

#include <string>

#include "base/worker_pool.h"
#include "client/grpc_channel.h"
#include "server/operate/grpc_relay.h"

namespace baton::app {

class GrpcRelay {
 public:
  static constexpr int kCallsMax = 4;  // at once

  // `host`: where the server listens, which may be every address.
  GrpcRelay(const std::string& host, int port);

  static bool available() { return client::GrpcChannel::available(); }

  // See server::operate::GrpcRelay.
  bool begin(server::operate::GrpcCall call, server::operate::OnGrpcMessage on_message,
             server::operate::OnGrpcEnd on_end);
  void stop() { calls_.stop(); }

 private:
  void run(const server::operate::GrpcCall& call, const server::operate::OnGrpcMessage& on_message,
           const server::operate::OnGrpcEnd& on_end) const;

  const client::GrpcChannel channel_;
  base::WorkerPool calls_{"grpc-relay", kCallsMax, kCallsMax};
};

}  // namespace baton::app
