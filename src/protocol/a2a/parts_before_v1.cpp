#include "base/base64.h"
#include "json/writer.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;
using task::Part;

task::Json without_mark(json::Value metadata) {
  if (metadata.size() == 1) return {};
  task::Json rest;
  json::Writer writer(rest.text);
  writer.object([&] {
    for (const json::Value member : metadata) {
      if (member.key() != kWrapped) writer.key(member.key()).raw(member.raw());
    }
  });
  return rest;
}

Result<Part> read_content(json::Value part, task::Json& metadata) {
  const json::Value tag = first_of(part, {"kind", "type"});
  if (!tag.absent() && !tag.is_string()) return wrong("type: must be a string");
  std::string_view type = tag.string();
  if (type.empty()) type = !part["text"].absent() ? "text" : !part["file"].absent() ? "file" : "data";
  if (type == "text") {
    if (!part["text"].is_string()) return wrong("text: must be a string");
    return Part::of_text(part["text"].str());
  }
  if (type == "file") return read_file(part["file"], {"mimeType"}, {"bytes", "data"}, {"uri"});
  if (type != "data") return wrong("type: must be text, file or data");
  return read_data(part["data"], part["metadata"], metadata);
}

Result<Part> read_part(json::Value part) {
  if (!part.is_object()) return wrong("must be an object");
  task::Json metadata;
  Fields in(part);
  in.object({"metadata"}, metadata);
  if (!in.good()) return in.result(Part());
  auto read = read_content(part, metadata);
  if (read) read->metadata = std::move(metadata);
  return read;
}

bool is_object(const Part& data) {
  const auto first = data.content.find_first_not_of(" \t\r\n");
  return first != std::string::npos && data.content[first] == '{';
}

}  // namespace

Result<Part> read_file(json::Value file, Fields::Names type, Fields::Names bytes, Fields::Names uri) {
  if (!file.is_object()) return wrong("file: must be an object");
  Part part;
  std::string payload, link;
  Fields in(file, "file.");
  in.string({"name"}, part.filename);
  in.string(type, part.media_type);
  in.string(bytes, payload);
  in.string(uri, link);
  if (!in.good()) return in.result(Part());
  const std::string bytes_name(*bytes.begin());
  if (in.value(bytes).absent() == link.empty()) {
    return wrong("file: exactly one of " + bytes_name + " and " + std::string(*uri.begin()) + " is required");
  }
  part.kind = link.empty() ? Part::Kind::raw : Part::Kind::url;
  part.content = std::move(link);
  if (part.kind == Part::Kind::url) return part;
  auto normal = base::normalize_base64(payload);
  if (!normal) return wrong("file." + bytes_name + ": is not base64");
  part.content = std::move(*normal);
  return part;
}

// An object that looks wrapped but has no mark is read unchanged.
Result<Part> read_data(json::Value data, json::Value metadata, task::Json& kept) {
  if (!data.is_object() && !data.is_array()) return wrong("data: must be an object");
  const json::Value inner = data["value"];
  const bool wrapped = metadata[kWrapped].boolean() && data.size() == 1 && !inner.missing();
  if (!wrapped) return Part::of_data(data.json());
  kept = without_mark(metadata);
  return Part::of_data(inner.json());
}

void write_data(json::Writer& out, const Part& data) {
  if (is_object(data)) {
    out.raw(data.content);
  } else {
    out.object([&] { out.key("value").raw(data.content); });
  }
}

task::Json metadata_before_v1(const Part& part, bool marks_wrapped) {
  task::Json metadata = part.metadata;
  if (part.kind != Part::Kind::text && part.kind != Part::Kind::data) return metadata;
  if (part.kind == Part::Kind::data && marks_wrapped) {
    // A mark that came with the part is removed, because it would be mistaken for Baton's mark.
    if (metadata.text.find(kWrapped) != std::string::npos) {
      const auto document = json::Document::view_of(metadata.text);
      if (!document.root()[kWrapped].missing()) metadata = without_mark(document.root());
    }
    if (!is_object(part)) metadata = with_member(metadata, kWrapped, "true");
  }
  if (!part.media_type.empty())
    metadata = with_member(metadata, "mediaType", json::string_of(part.media_type));
  if (!part.filename.empty()) metadata = with_member(metadata, "filename", json::string_of(part.filename));
  return metadata;
}

Result<std::vector<Part>> read_parts(json::Value parts, const std::string& name) {
  return read_parts(parts, name, read_part);
}

Result<std::vector<Part>> read_parts(json::Value parts, const std::string& name, PartReader read_one) {
  if (!parts.is_array()) return wrong(name + ": must be a list");
  if (parts.size() == 0) return wrong(name + ": must not be empty");
  std::vector<Part> read;
  read.reserve(parts.size());
  for (const json::Value part : parts) {
    auto one = read_one(part);
    if (!one) return wrong(name + "[" + std::to_string(read.size()) + "]." + one.error().for_caller);
    read.push_back(std::move(*one));
  }
  return read;
}

}  // namespace baton::protocol::a2a
