#include "protocol/grpc/schema.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/timestamp.pb.h>

#include <stdexcept>
#include <string_view>

#include "base/embedded.h"

namespace baton::protocol::grpc {
namespace {

// Throws if a file of schema/ cannot be read, which is a fault of the build.
void add_file(pb::DescriptorPool& pool, std::string_view name) {
  const std::string_view text = base::embedded_file(name);
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  pb::io::Tokenizer tokens(&input, nullptr);
  pb::FileDescriptorProto file;
  file.set_name(std::string(name));
  const bool good = pb::compiler::Parser().Parse(&tokens, &file) && pool.BuildFile(file) != nullptr;
  if (text.empty() || !good) throw std::logic_error("schema/" + std::string(name) + " cannot be read");
}

}  // namespace

Schema::Schema() : pool_(pb::DescriptorPool::generated_pool()), factory_(&pool_) {
  pb::SetLogHandler(nullptr);  // what it would log is also reported as a failure
  factory_.SetDelegateToGeneratedFactory(true);
  // The files import these, so they must be linked and registered.
  pb::Any::descriptor();
  pb::Duration::descriptor();
  pb::Empty::descriptor();
  pb::Struct::descriptor();
  pb::Timestamp::descriptor();
  for (const char* name : {"grpc/a2a_v0_3.proto", "grpc/a2a_v1_0.proto", "grpc/google_rpc.proto"}) {
    add_file(pool_, name);
  }
}

std::unique_ptr<pb::Message> Schema::make(const std::string& name) const {
  const pb::Descriptor* type = pool_.FindMessageTypeByName(name);
  return std::unique_ptr<pb::Message>(type ? factory_.GetPrototype(type)->New() : nullptr);
}

base::Result<std::unique_ptr<pb::Message>> Schema::parse(const std::string& name,
                                                         const std::string& bytes) const {
  auto message = make(name);
  if (message && message->ParseFromString(bytes)) return message;
  return base::fail(base::ErrorCode::invalid_request, "the message cannot be read");
}

}  // namespace baton::protocol::grpc
