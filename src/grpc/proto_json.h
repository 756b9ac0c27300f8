// ProtoJson: converts A2A messages between gRPC's bytes and JSON, by the .proto files of schema/grpc/. No
// code is generated from the files: the constructor reads them.
//
// Threads: immutable once made.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"

namespace baton::grpc {

class ProtoJson {
 public:
  ProtoJson();
  ~ProtoJson();
  ProtoJson(const ProtoJson&) = delete;
  ProtoJson& operator=(const ProtoJson&) = delete;

  // `message` is a full name such as "a2a.v1.Task". `to_bytes` ignores fields that the message does not have.
  // JSON that protobuf refuses is simplified: of repeated members the last one is kept; numbers that no
  // double can hold and values nested too deep become strings.
  base::Result<std::string> to_json(const std::string& message, const std::string& bytes) const;
  base::Result<std::string> to_bytes(const std::string& message, const std::string& json) const;

 private:
  struct Schema;
  const std::unique_ptr<const Schema> schema_;
};

}  // namespace baton::grpc
