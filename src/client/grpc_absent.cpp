// The client of a program that was built without gRPC.
#include "client/grpc_channel.h"

namespace baton::client {
namespace {

auto absent() {
  return base::fail(base::ErrorCode::unsupported, "this program was built without gRPC");
}

}  // namespace

class Channel::Impl {};

Channel::Channel(ChannelTarget) {}
Channel::~Channel() = default;

bool Channel::available() {
  return false;
}

base::Result<ChannelAnswer> Channel::call(const ChannelCall&) const {
  return absent();
}

base::Result<ChannelAnswer> Channel::stream(const ChannelCall&,
                                            const std::function<bool(std::string_view)>&) const {
  return absent();
}

}  // namespace baton::client
