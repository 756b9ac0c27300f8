// Schema: the messages of schema/grpc/. No code is generated from the files: the constructor reads them.
//
// Threads: immutable once made. Messages belong to their makers.
#pragma once

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace baton::protocol::grpc {

namespace pb = google::protobuf;

class Schema {
 public:
  Schema();
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

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

}  // namespace baton::protocol::grpc
