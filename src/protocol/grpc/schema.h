// MessageSchema: the messages of schema/grpc/. No code is generated from the files: the constructor reads
// them.
//
// Threads: immutable once made. A message belongs to the caller that made or parsed it.
#pragma once

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace google::protobuf::util {
class TypeResolver;
}

namespace baton::protocol::grpc {

namespace pb = google::protobuf;

class MessageSchema {
 public:
  MessageSchema();
  MessageSchema(const MessageSchema&) = delete;
  MessageSchema& operator=(const MessageSchema&) = delete;

  // `name` is a full name such as "a2a.v1.Task". Null if there is no such message. Fields of protobuf's own
  // types (Struct, Timestamp, ...) are of their classes.
  std::unique_ptr<pb::Message> make(const std::string& name) const;
  // Fails with invalid_request.
  base::Result<std::unique_ptr<pb::Message>> parse(const std::string& name, const std::string& bytes) const;

  const pb::DescriptorPool& pool() const { return pool_; }

 private:
  pb::DescriptorPool pool_;
  mutable pb::DynamicMessageFactory factory_;  // locks itself
};

// ProtoJson: converts messages of schema/grpc/ between gRPC's bytes and JSON. Used for the client, whose REST
// requests are translated to gRPC, and for cards.
//
// Threads: immutable once made. The schema must outlive it.
class ProtoJson {
 public:
  explicit ProtoJson(const MessageSchema& schema);
  ~ProtoJson();
  ProtoJson(const ProtoJson&) = delete;
  ProtoJson& operator=(const ProtoJson&) = delete;

  // `message` is a full name such as "a2a.v1.Task". `to_bytes` ignores fields that the message does not have.
  // JSON that protobuf refuses is simplified: if a member is repeated, the last one is kept; numbers that no
  // double can hold and values nested too deep become strings.
  base::Result<std::string> to_json(const std::string& message, const std::string& bytes) const;
  base::Result<std::string> to_bytes(const std::string& message, const std::string& json) const;

 private:
  const MessageSchema& schema_;
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

}  // namespace baton::protocol::grpc
