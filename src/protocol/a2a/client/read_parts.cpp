#include "protocol/a2a/client/read_parts.h"

#include "base/base64.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;
using task::Part;

Result<Part> read_file(json::Value file) {
  if (!file.is_object()) return wrong("file: must be an object");
  Part part;
  part.filename = file["name"].str();
  part.media_type = first_of(file, {"mimeType", "mime_type"}).str();
  const json::Value bytes = first_of(file, {"bytes", "data", "fileWithBytes", "file_with_bytes"});
  const json::Value uri = first_of(file, {"uri", "fileWithUri", "file_with_uri"});
  if (bytes.is_string()) {
    auto base64 = base::normalize_base64(bytes.string());
    if (!base64) return wrong("file.bytes: must be base64");
    part.kind = Part::Kind::raw;
    part.content = std::move(*base64);
  } else if (uri.is_string()) {
    part.kind = Part::Kind::url;
    part.content = uri.str();
  } else {
    return wrong("file: must have bytes or uri");
  }
  return part;
}

// An object with other members than `data` is the data itself.
json::Value unnested(json::Value data) {
  const json::Value inner = data["data"];
  return data.size() == 1 && !inner.missing() ? inner : data;
}

Result<Part> read_data_part(json::Value data, json::Value metadata, task::Json& kept) {
  // The schemas require an object; any other JSON is shown as it is.
  if (!data.is_object()) return Part::of_data(data.json());
  return read_data(data, metadata, kept);
}

}  // namespace

Result<Part> read_part_before_v1(json::Value value, bool nested) {
  if (!value.is_object()) return wrong("must be an object");
  const json::Value metadata = value["metadata"], data = value["data"];
  task::Json kept = metadata.is_object() ? metadata.json() : task::Json{};
  Result<Part> part = Part{};
  if (value["text"].is_string()) {
    part = Part::of_text(value["text"].str());
  } else if (!value["file"].absent()) {
    part = read_file(value["file"]);
  } else if (!data.missing()) {
    part = read_data_part(nested ? unnested(data) : data, metadata, kept);
  } else {
    return wrong("must have text, file or data");
  }
  if (part) part->metadata = std::move(kept);
  return part;
}

}  // namespace baton::protocol::a2a
