// GrpcChannel: a client's A2A calls over gRPC, the counterpart of GrpcServer. It sends a request of the REST
// binding as the matching gRPC call, and returns the answer in REST's JSON.
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
#include "http/outbound/address.h"
#include "http/outbound/byte_budget.h"
#include "protocol/a2a/client/client_dialect.h"
#include "task/task.h"

namespace baton::client {

struct ChannelTarget {
  std::string url;  // host:port, with https:// before it for TLS; http:// means plain text
  task::ProtocolVersion version = task::ProtocolVersion::v1_0;  // v0_3 or v1_0
  std::string tenant;                                           // 1.0 only; sent in every message
  http::outbound::AddressPolicy policy = http::outbound::AddressPolicy::any();
  std::size_t message_max = std::size_t{256} << 20;  // bytes of a message that comes
  // 0.3 only: the server has the base64 text of files where their bytes belong, as the SDKs for Python, Go
  // and Java have. Nothing on the wire tells.
  bool files_are_text = false;
};

// A message on the wire, without the five bytes that gRPC puts before it.
struct ChannelBytes {
  bool is_sent = false;
  std::string_view method;  // "/lf.a2a.v1.A2AService/SendMessage"
  std::string_view bytes, json;
};

struct ChannelCall {
  protocol::a2a::ClientRequest request;  // of the version's REST dialect, without the tenant
  std::vector<std::pair<std::string, std::string>> metadata;
  // Zero means no deadline. Streams have none: they end when the connection is found dead.
  std::chrono::milliseconds timeout{0};
  // When this descriptor becomes readable, the call ends with `unavailable`; -1 means none.
  int stop_fd = -1;
  // Called when the connection is up: before that, nothing has been sent. May be empty.
  std::function<void()> on_connected = {};
  // Gets each message that is sent or comes, before `on_message` does. May be empty.
  std::function<void(const ChannelBytes&)> on_bytes = {};
  // Where the bytes of messages are counted; they stay held until `on_message`, or the caller, says what it
  // keeps. Null: nowhere.
  http::outbound::Intake* intake = nullptr;
};

// The answer that REST would give: a message in ProtoJSON, or an error in the form of google.rpc.Status.
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

  // Whether this program was built with gRPC.
  static bool available();

  // Fails with unavailable (no connection, a lost one, or told to stop), permission_denied (the address),
  // deadline_exceeded, too_large (a message), unsupported (no such method over gRPC) or invalid_argument.
  base::Result<ChannelAnswer> call(const ChannelCall& call) const;

  // The same for a stream: `on_message` gets each message and returns whether to go on. The answer's body is
  // empty unless the status is not 200.
  base::Result<ChannelAnswer> stream(const ChannelCall& call,
                                     const std::function<bool(std::string_view json)>& on_message) const;

 private:
  class Impl;
  const std::unique_ptr<const Impl> impl_;
};

}  // namespace baton::client
