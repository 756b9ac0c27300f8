// The gRPC client of a program that was built without gRPC.
#include "client/grpc_channel.h"

namespace baton::client {
namespace {

auto absent() {
  return base::fail(base::ErrorCode::unsupported, "this program was built without gRPC");
}

}  // namespace

class GrpcChannel::Impl {};

GrpcChannel::GrpcChannel(ChannelTarget) {}
GrpcChannel::~GrpcChannel() = default;

bool GrpcChannel::available() {
  return false;
}

base::Result<ChannelAnswer> GrpcChannel::call(const ChannelCall&) const {
  return absent();
}

base::Result<ChannelAnswer> GrpcChannel::stream(const ChannelCall&,
                                                const std::function<bool(std::string_view)>&) const {
  return absent();
}

}  // namespace baton::client
