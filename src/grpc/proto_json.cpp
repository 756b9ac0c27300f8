#include "grpc/proto_json.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>

#include "base/embedded.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::grpc {
namespace {

namespace pb = google::protobuf;

constexpr const char* kUrl = "type.googleapis.com";

std::string url_of(const std::string& message) {
  return std::string(kUrl) + "/" + message;
}

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

// Clients cannot read values nested deeper than this: protobuf's parsers stop at 100 nested messages, and one
// bracket takes up to three of them.
constexpr int kDepthMax = 32;

bool is_double(std::string_view number) {
  return std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

void write_plain(wire::Writer& writer, const wire::Value& value, int depth);

void write_members(wire::Writer& writer, const wire::Value& object, int depth) {
  std::map<std::string_view, std::size_t> last;
  std::size_t count = 0;
  for (const wire::Value member : object) last[member.key()] = count++;
  std::size_t place = 0;
  for (const wire::Value member : object) {
    if (last[member.key()] == place++) write_plain(writer.key(member.key()), member, depth);
  }
}

void write_plain(wire::Writer& writer, const wire::Value& value, int depth) {
  const bool nests = value.is_object() || value.is_array();
  if (value.is_string()) {
    writer.string(value.string());
  } else if ((value.is_number() && !is_double(value.raw())) || (nests && depth >= kDepthMax)) {
    writer.string(value.raw());
  } else if (value.is_object()) {
    writer.object([&] { write_members(writer, value, depth + 1); });
  } else if (value.is_array()) {
    writer.array([&] {
      for (const wire::Value item : value) write_plain(writer, item, depth + 1);
    });
  } else {
    writer.raw(value.raw());
  }
}

// The JSON without what our parser accepts and protobuf refuses. Of repeated members the last one is kept;
// numbers that no double can hold and values nested too deep become strings.
base::Result<std::string> plain(const std::string& json) {
  const auto document = wire::Document::parse_view(json, {.depth_max = 1000});
  if (!document) return base::fail(document.error());
  std::string text;
  wire::Writer writer(text);
  write_plain(writer, document->root(), 0);
  return text;
}

}  // namespace

struct ProtoJson::Schema {
  Schema() : pool(pb::DescriptorPool::generated_pool()), factory(&pool) {
    pb::SetLogHandler(nullptr);  // what it would log is also reported as a failure
    // The files import these, so they must be linked and registered.
    pb::Any::descriptor();
    pb::Duration::descriptor();
    pb::Empty::descriptor();
    pb::Struct::descriptor();
    pb::Timestamp::descriptor();
    for (const char* name : {"grpc/a2a_v0_3.proto", "grpc/a2a_v1_0.proto", "grpc/google_rpc.proto"}) {
      add_file(pool, name);
    }
    resolver.reset(pb::util::NewTypeResolverForDescriptorPool(kUrl, &pool));
  }

  // The translation to JSON accepts a truncated message as a short one; a parser does not.
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
  const auto translate = [&](const std::string& text) {
    bytes.clear();
    return pb::util::JsonToBinaryString(schema_->resolver.get(), url_of(message), text, &bytes, options).ok();
  };
  if (translate(json)) return bytes;
  const auto again = plain(json);
  if (again && translate(*again)) return bytes;
  // protobuf's reason is left out: it quotes the text.
  return base::fail(base::ErrorCode::internal, "the answer cannot be said in gRPC", "no " + message);
}

}  // namespace baton::grpc
