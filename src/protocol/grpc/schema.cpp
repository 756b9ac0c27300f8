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
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>

#include "base/embedded.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::protocol::grpc {
namespace {

// Throws if a file of schema/ cannot be read, which is an error of the build.
void add_file(pb::DescriptorPool& pool, std::string_view name) {
  const std::string_view text = base::embedded_file(name);
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  pb::io::Tokenizer tokens(&input, nullptr);
  pb::FileDescriptorProto file;
  file.set_name(std::string(name));
  const bool good = pb::compiler::Parser().Parse(&tokens, &file) && pool.BuildFile(file) != nullptr;
  if (text.empty() || !good) throw std::logic_error("schema/" + std::string(name) + " cannot be read");
}

constexpr const char* kUrl = "type.googleapis.com";

std::string url_of(const std::string& message) {
  return std::string(kUrl) + "/" + message;
}

// Clients cannot read values nested deeper than this: protobuf's parsers stop at 100 nested messages, and one
// level of JSON needs up to three messages.
constexpr int kDepthMax = 32;

bool is_double(std::string_view number) {
  return std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

void write_plain(json::Writer& writer, const json::Value& value, int depth);

void write_members(json::Writer& writer, const json::Value& object, int depth) {
  std::map<std::string_view, std::size_t> last;
  std::size_t count = 0;
  for (const json::Value member : object) last[member.key()] = count++;
  std::size_t place = 0;
  for (const json::Value member : object) {
    if (last[member.key()] == place++) write_plain(writer.key(member.key()), member, depth);
  }
}

void write_plain(json::Writer& writer, const json::Value& value, int depth) {
  const bool nests = value.is_object() || value.is_array();
  if (value.is_string()) {
    writer.string(value.string());
  } else if ((value.is_number() && !is_double(value.raw())) || (nests && depth >= kDepthMax)) {
    writer.string(value.raw());
  } else if (value.is_object()) {
    writer.object([&] { write_members(writer, value, depth + 1); });
  } else if (value.is_array()) {
    writer.each(value, [&](const json::Value item) { write_plain(writer, item, depth + 1); });
  } else {
    writer.raw(value.raw());
  }
}

// Removes from the JSON everything that our parser accepts and protobuf refuses. If a member is repeated, the
// last one is kept; numbers that no double can hold and values nested too deep become strings.
base::Result<std::string> plain(const std::string& json) {
  const auto document = json::Document::parse_view(json, {.depth_max = 1000});
  if (!document) return base::fail(document.error());
  std::string text;
  json::Writer writer(text);
  write_plain(writer, document->root(), 0);
  return text;
}

}  // namespace

MessageSchema::MessageSchema() : pool_(pb::DescriptorPool::generated_pool()), factory_(&pool_) {
  pb::SetLogHandler(nullptr);  // protobuf's log lines repeat failures that are reported anyway
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

std::unique_ptr<pb::Message> MessageSchema::make(const std::string& name) const {
  const pb::Descriptor* type = pool_.FindMessageTypeByName(name);
  return std::unique_ptr<pb::Message>(type ? factory_.GetPrototype(type)->New() : nullptr);
}

base::Result<std::unique_ptr<pb::Message>> MessageSchema::parse(const std::string& name,
                                                                const std::string& bytes) const {
  auto message = make(name);
  if (message && message->ParseFromString(bytes)) return message;
  return base::fail(base::ErrorCode::invalid_request, "the message is invalid");
}

ProtoJson::ProtoJson(const MessageSchema& schema)
    : schema_(schema), resolver_(pb::util::NewTypeResolverForDescriptorPool(kUrl, &schema.pool())) {}
ProtoJson::~ProtoJson() = default;

base::Result<std::string> ProtoJson::to_json(const std::string& message, const std::string& bytes) const {
  std::string json;
  // The translation accepts a truncated message as a short one; a parser does not.
  if (schema_.parse(message, bytes) &&
      pb::util::BinaryToJsonString(resolver_.get(), url_of(message), bytes, &json).ok()) {
    return json;
  }
  return base::fail(base::ErrorCode::invalid_request, "the message is invalid");
}

base::Result<std::string> ProtoJson::to_bytes(const std::string& message, const std::string& json) const {
  pb::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  std::string bytes;
  const auto translate = [&](const std::string& text) {
    bytes.clear();
    return pb::util::JsonToBinaryString(resolver_.get(), url_of(message), text, &bytes, options).ok();
  };
  if (translate(json)) return bytes;
  const auto again = plain(json);
  if (again && translate(*again)) return bytes;
  // protobuf's reason is left out: it quotes the text.
  return base::fail(base::ErrorCode::internal, "the answer cannot be encoded in gRPC", "no " + message);
}

}  // namespace baton::protocol::grpc
