#include "protocol/grpc/proto_json.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "json/document.h"
#include "json/writer.h"

namespace baton::protocol::grpc {
namespace {

constexpr const char* kUrl = "type.googleapis.com";

std::string url_of(const std::string& message) {
  return std::string(kUrl) + "/" + message;
}

// Clients cannot read values nested deeper than this: protobuf's parsers stop at 100 nested messages, and one
// bracket takes up to three of them.
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
    writer.array([&] {
      for (const json::Value item : value) write_plain(writer, item, depth + 1);
    });
  } else {
    writer.raw(value.raw());
  }
}

// The JSON without what our parser accepts and protobuf refuses. Of repeated members the last one is kept;
// numbers that no double can hold and values nested too deep become strings.
base::Result<std::string> plain(const std::string& json) {
  const auto document = json::Document::parse_view(json, {.depth_max = 1000});
  if (!document) return base::fail(document.error());
  std::string text;
  json::Writer writer(text);
  write_plain(writer, document->root(), 0);
  return text;
}

}  // namespace

ProtoJson::ProtoJson(const Schema& schema)
    : schema_(schema), resolver_(pb::util::NewTypeResolverForDescriptorPool(kUrl, &schema.pool())) {}
ProtoJson::~ProtoJson() = default;

base::Result<std::string> ProtoJson::to_json(const std::string& message, const std::string& bytes) const {
  std::string json;
  // The translation accepts a truncated message as a short one; a parser does not.
  if (schema_.parse(message, bytes) &&
      pb::util::BinaryToJsonString(resolver_.get(), url_of(message), bytes, &json).ok()) {
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
    return pb::util::JsonToBinaryString(resolver_.get(), url_of(message), text, &bytes, options).ok();
  };
  if (translate(json)) return bytes;
  const auto again = plain(json);
  if (again && translate(*again)) return bytes;
  // protobuf's reason is left out: it quotes the text.
  return base::fail(base::ErrorCode::internal, "the answer cannot be said in gRPC", "no " + message);
}

}  // namespace baton::protocol::grpc
