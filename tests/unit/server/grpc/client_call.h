// Calls any gRPC method, with messages as bytes.
#pragma once

#include <doctest/doctest.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/grpc/methods.h"
#include "server/grpc/call_head.h"
#include "support/patience.h"

namespace baton::server::grpc {

inline ::grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const ::grpc::Slice slice(bytes);
  return {&slice, 1};
}

inline std::string bytes_in(const ::grpc::ByteBuffer& buffer) {
  std::vector<::grpc::Slice> slices;
  std::string bytes;
  CHECK(buffer.Dump(&slices).ok());
  for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// The arguments of a client that accepts messages of any size, and takes only the first 64 KiB of a message
// until it reads the message.
inline ::grpc::ChannelArguments client_arguments() {
  ::grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // it would widen the window
  return arguments;
}

// A client's call. Every wait is bounded by the call's deadline.
class ClientCall {
 public:
  ClientCall(int port, const std::string& method, const std::string& bytes, Metadata metadata = {},
             grpc_compression_algorithm compression = GRPC_COMPRESS_NONE)
      : stub_(::grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                          ::grpc::InsecureChannelCredentials(), client_arguments())) {
    context_.set_deadline(std::chrono::system_clock::now() + test::patience());
    for (const auto& [name, value] : metadata) context_.AddMetadata(name, value);
    context_.set_compression_algorithm(compression);
    stream_ = stub_.PrepareCall(&context_, method, &queue_);
    stream_->StartCall(this);
    CHECK(next());
    stream_->WriteLast(buffer_of(bytes), {}, this);
    next();  // fails if the call was refused at once
  }
  ~ClientCall() {
    if (!finished_) {
      context_.TryCancel();
      finish();
    }
    queue_.Shutdown();
  }
  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  std::optional<std::string> read() {
    ::grpc::ByteBuffer message;
    stream_->Read(&message, this);
    if (!next()) return std::nullopt;
    return bytes_in(message);
  }
  ::grpc::Status finish() {
    finished_ = true;
    ::grpc::Status status;
    stream_->Finish(&status, this);
    CHECK(next());
    return status;
  }
  void cancel() { context_.TryCancel(); }
  std::string header(const std::string& name) const {
    const auto& all = context_.GetServerInitialMetadata();
    const auto found = all.find(name);
    return found == all.end() ? std::string() : std::string(found->second.data(), found->second.size());
  }

 private:
  bool next() {
    void* tag = nullptr;
    bool ok = false;
    REQUIRE(queue_.Next(&tag, &ok));
    return ok;
  }

  ::grpc::GenericStub stub_;
  ::grpc::ClientContext context_;
  ::grpc::CompletionQueue queue_;
  std::unique_ptr<::grpc::GenericClientAsyncReaderWriter> stream_;
  bool finished_ = false;
};

}  // namespace baton::server::grpc
