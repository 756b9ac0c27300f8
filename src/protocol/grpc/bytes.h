// bytes_of: a gRPC message's bytes in one string. Pure; empty if the message cannot be read.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

namespace baton::protocol::grpc {

inline std::string bytes_of(const ::grpc::ByteBuffer& buffer) {
  std::vector<::grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const ::grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace baton::protocol::grpc
