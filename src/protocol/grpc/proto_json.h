// ProtoJson: converts messages of schema/grpc/ between gRPC's bytes and JSON: for the client, which speaks
// REST and is translated, and for cards.
//
// Threads: immutable once made. The schema must outlive it.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "protocol/grpc/schema.h"

namespace google::protobuf::util {
class TypeResolver;
}

namespace baton::protocol::grpc {

class ProtoJson {
 public:
  explicit ProtoJson(const Schema& schema);
  ~ProtoJson();
  ProtoJson(const ProtoJson&) = delete;
  ProtoJson& operator=(const ProtoJson&) = delete;

  // `message` is a full name such as "a2a.v1.Task". `to_bytes` ignores fields that the message does not have.
  // JSON that protobuf refuses is simplified: of repeated members the last one is kept; numbers that no
  // double can hold and values nested too deep become strings.
  base::Result<std::string> to_json(const std::string& message, const std::string& bytes) const;
  base::Result<std::string> to_bytes(const std::string& message, const std::string& json) const;

 private:
  const Schema& schema_;
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

}  // namespace baton::protocol::grpc
