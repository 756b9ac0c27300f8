// ProtoJson: messages of A2A between the bytes of gRPC and JSON, by the .proto files of schema/grpc/. No code
// is generated from them: they are read when the program starts.
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

  // `message` is a full name, "a2a.v1.Task". Fields that the message does not have are left out. JSON that
  // protobuf refuses is made plain: of repeated members the last one is kept, and numbers that no double
  // holds and values nested too deep become strings.
  base::Result<std::string> to_json(const std::string& message, const std::string& bytes) const;
  base::Result<std::string> to_bytes(const std::string& message, const std::string& json) const;

 private:
  struct Schema;
  const std::unique_ptr<const Schema> schema_;
};

}  // namespace baton::grpc
