#include "grpc/proto_json.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <stdexcept>
#include <string_view>

#include "base/embedded.h"

namespace baton::grpc {
namespace {

namespace pb = google::protobuf;

constexpr const char* kUrl = "type.googleapis.com";

std::string url_of(const std::string& message) {
  return std::string(kUrl) + "/" + message;
}

// A file of schema/ that cannot be read is a fault of the build.
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

struct ProtoJson::Schema {
  Schema() : pool(pb::DescriptorPool::generated_pool()), factory(&pool) {
    pb::SetLogHandler(nullptr);  // whatever it would write to standard error comes as a failure as well
    // The files import these: they have to be there.
    pb::Any::descriptor();
    pb::Empty::descriptor();
    pb::Struct::descriptor();
    pb::Timestamp::descriptor();
    for (const char* name : {"grpc/a2a_v0_3.proto", "grpc/a2a_v1_0.proto", "grpc/google_rpc.proto"}) {
      add_file(pool, name);
    }
    resolver.reset(pb::util::NewTypeResolverForDescriptorPool(kUrl, &pool));
  }

  // The translation to JSON takes a message that is cut off for one that is short; a parser does not.
  bool is_whole(const std::string& message, const std::string& bytes) const {
    const pb::Descriptor* type = pool.FindMessageTypeByName(message);
    if (!type) return false;
    const std::unique_ptr<pb::Message> parsed(factory.GetPrototype(type)->New());
    return parsed->ParseFromString(bytes);
  }

  pb::DescriptorPool pool;
  mutable pb::DynamicMessageFactory factory;  // locks itself
  std::unique_ptr<pb::util::TypeResolver> resolver;
};

ProtoJson::ProtoJson() : schema_(std::make_unique<const Schema>()) {}
ProtoJson::~ProtoJson() = default;

base::Result<std::string> ProtoJson::to_json(const std::string& message, const std::string& bytes) const {
  std::string json;
  if (schema_->is_whole(message, bytes) &&
      pb::util::BinaryToJsonString(schema_->resolver.get(), url_of(message), bytes, &json).ok()) {
    return json;
  }
  return base::fail(base::ErrorCode::invalid_request, "the message cannot be read");
}

base::Result<std::string> ProtoJson::to_bytes(const std::string& message, const std::string& json) const {
  pb::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  std::string bytes;
  const auto status =
      pb::util::JsonToBinaryString(schema_->resolver.get(), url_of(message), json, &bytes, options);
  if (status.ok()) return bytes;
  return base::fail(base::ErrorCode::internal, "the answer cannot be said in gRPC", status.ToString());
}

}  // namespace baton::grpc
