// GrpcChannel: a client's A2A calls over gRPC, the counterpart of GrpcServer. It sends a request of the REST
// binding as the matching gRPC call, and returns the answer in REST's JSON.
//
// Over TLS it trusts what client_context (outbound/tls_context.h) trusts, as it was at the first call; where
// the system's store is not named, gRPC finds it.
//
// Threads: any; each call blocks until it is over. No proxy is used. In a program built without gRPC every
// call fails with `unsupported`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "outbound/address.h"
#include "outbound/byte_budget.h"
#include "protocol/a2a/client/client_dialect.h"
#include "task/task.h"

namespace baton::client {

struct ChannelTarget {
  std::string url;  // host:port, with https:// before it for TLS; http:// means plain text
  task::ProtocolVersion version = task::ProtocolVersion::v1_0;  // v0_3 or v1_0
  std::string tenant;                                           // 1.0 only; sent in every message
  outbound::AddressPolicy policy = outbound::AddressPolicy::any();
  std::size_t message_max = std::size_t{256} << 20;  // bytes of a received message
  // 0.3 only: the server puts the base64 text of files where their bytes belong, like the SDKs for Python, Go
  // and Java. This cannot be detected on the wire.
  bool files_are_text = false;
  bool verifies = true;  // false: any certificate will do, because the address is this program's own
};

// A message on the wire, without gRPC's prefix of five bytes.
struct ChannelBytes {
  bool is_sent = false;
  std::string_view method;  // "/lf.a2a.v1.A2AService/SendMessage"
  std::string_view bytes, json;
};

struct ChannelCall {
  protocol::a2a::ClientRequest request;  // of the version's REST dialect, without the tenant
  std::vector<std::pair<std::string, std::string>> metadata;
  // Zero means no deadline. Streams have none, but end when a keep-alive ping is not answered.
  std::chrono::milliseconds timeout{0};
  // When this descriptor becomes readable, the call ends with `unavailable`; -1 means none.
  int stop_fd = -1;
  // Called when the connection is established; before that, no data has been sent. May be empty.
  std::function<void()> on_connected = {};
  // Gets each message that is sent or received, before `on_message`. May be empty.
  std::function<void(const ChannelBytes&)> on_bytes = {};
  // Counts the bytes of messages. They stay reserved until `on_message`, or the caller, reports how many it
  // keeps. Null: they are not counted.
  outbound::Intake* intake = nullptr;
};

// The answer in the form of REST: a message in ProtoJSON, or an error as a google.rpc.Status.
struct ChannelAnswer {
  int http_status = 200;
  std::string body;
};

class GrpcChannel {
 public:
  explicit GrpcChannel(ChannelTarget target);
  ~GrpcChannel();
  GrpcChannel(const GrpcChannel&) = delete;
  GrpcChannel& operator=(const GrpcChannel&) = delete;

  // Returns true if this program was built with gRPC.
  static bool available();

  // Fails with unavailable (no connection, a lost connection, or `stop_fd`), permission_denied (the address),
  // deadline_exceeded, too_large (a message), unsupported (no such method over gRPC) or invalid_argument.
  base::Result<ChannelAnswer> call(const ChannelCall& call) const;

  // Like `call`, for a stream. `on_message` gets each message and returns false to end the stream. The
  // answer's body is empty if the status is 200.
  base::Result<ChannelAnswer> stream(const ChannelCall& call,
                                     const std::function<bool(std::string_view json)>& on_message) const;

 private:
  class Impl;
  const std::unique_ptr<const Impl> impl_;
};

}  // namespace baton::client
