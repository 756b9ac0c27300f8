#include "protocol/agui/content.h"
#include "json/fields.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/text.h"
#include "json/writer.h"

namespace baton::protocol::agui {
namespace {

using base::fail;
using base::Result;
using json::Fields;
using json::wrong;
using task::Part;

// A part, or nullopt if its type is unknown.
using MaybePart = std::optional<Part>;

Result<Part> raw_part(std::string_view text, std::string media_type, const std::string& name) {
  auto bytes = base::normalize_base64(text);
  if (!bytes) return wrong(name + ": must be base64");
  return Part{Part::Kind::raw, std::move(*bytes), {}, std::move(media_type), {}};
}

// Some clients put a file's bytes where a link or plain base64 belongs: "data:image/png;base64,...".
Result<MaybePart> read_data_url(std::string_view text, std::string media_type, const std::string& name) {
  constexpr std::string_view kScheme = "data:", kBase64 = ";base64";
  if (!base::begins_with(text, kScheme)) return MaybePart{};
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return MaybePart{};
  std::string_view type = text.substr(kScheme.size(), comma - kScheme.size());
  if (type.size() < kBase64.size() || !base::same_word(type.substr(type.size() - kBase64.size()), kBase64))
    return MaybePart{};
  type.remove_suffix(kBase64.size());
  if (media_type.empty()) media_type = type;
  auto part = raw_part(text.substr(comma + 1), std::move(media_type), name);
  if (!part) return fail(std::move(part.error()));
  return MaybePart{std::move(*part)};
}

Result<MaybePart> bytes_part(std::string_view text, std::string media_type, const std::string& name) {
  auto part = read_data_url(text, media_type, name);
  if (!part || *part) return part;
  auto raw = raw_part(text, std::move(media_type), name);
  if (!raw) return fail(std::move(raw.error()));
  return MaybePart{std::move(*raw)};
}

Result<MaybePart> url_part(std::string_view url, std::string media_type, const std::string& name) {
  auto part = read_data_url(url, media_type, name);
  if (!part || *part) return part;
  return MaybePart{Part{Part::Kind::url, std::string(url), {}, std::move(media_type), {}}};
}

Part file_part(std::string_view id, std::string_view provider, std::string media_type) {
  Part part{Part::Kind::data, {}, {}, std::move(media_type), {}};
  json::Writer out(part.content);
  out.object([&] { out.key("file").object([&] { out.member("id", id).optional("provider", provider); }); });
  return part;
}

// {"type":"binary","mimeType", "data"?|"url"?|"id"?, "filename"?}
Result<MaybePart> read_binary(json::Value value, const std::string& name) {
  std::string media_type, data, url, id, filename;
  Fields in(value, name + ".");
  in.string({"mimeType", "mime_type"}, media_type);
  in.string({"data"}, data);
  in.string({"url"}, url);
  in.string({"id"}, id);
  in.string({"filename"}, filename);
  MaybePart part;
  if (!in.good()) return in.result(std::move(part));
  if (!data.empty()) {
    in.take(bytes_part(data, media_type, name + ".data"), part);
  } else if (!url.empty()) {
    in.take(url_part(url, media_type, name + ".url"), part);
  } else if (!id.empty()) {
    part = file_part(id, {}, media_type);
  } else {
    return wrong(name + ": one of id, url and data is required");
  }
  if (part) part->filename = std::move(filename);
  return in.result(std::move(part));
}

// {"type":"image"|..., "source":{"type":"data"|"url"|"file", "value", "mimeType"?, "provider"?}}
Result<MaybePart> read_media(json::Value value, const std::string& name) {
  const json::Value source = value["source"];
  if (!source.is_object()) return wrong(name + ".source: must be an object");
  std::string media_type, provider, content;
  const std::string where = name + ".source.";
  Fields in(source, where);
  in.string({"mimeType", "mime_type"}, media_type);
  in.string({"provider"}, provider);
  const std::string_view type = source["type"].string();
  const bool known = type == "data" || type == "url" || type == "file";
  if (known) in.needed_string({"value"}, content);
  if (!in.good() || !known) return in.result(MaybePart{});
  if (type == "data") return bytes_part(content, std::move(media_type), where + "value");
  if (type == "url") return url_part(content, std::move(media_type), where + "value");
  return MaybePart{file_part(content, provider, std::move(media_type))};
}

Result<MaybePart> read_one(json::Value value, const std::string& name) {
  if (!value.is_object()) return wrong(name + ": must be an object");
  if (!value["type"].is_string()) return wrong(name + ".type: must be a string");
  const std::string_view type = value["type"].string();
  if (type == "text") {
    if (!value["text"].is_string()) return wrong(name + ".text: must be a string");
    return MaybePart{Part::of_text(value["text"].str())};
  }
  if (type == "binary") return read_binary(value, name);
  if (type != "image" && type != "audio" && type != "video" && type != "document") return MaybePart{};
  auto part = read_media(value, name);
  if (part && *part && value["metadata"].is_object()) {
    // The protocol has no member for a file's name; released front ends put it here.
    (*part)->filename = value["metadata"]["filename"].str();
    (*part)->metadata = value["metadata"].json();
  }
  return part;
}

std::string_view kind_of(std::string_view media_type) {
  const std::string type = base::essence_of(media_type);
  for (const std::string_view kind : {"image", "audio", "video"}) {
    if (type.starts_with(kind) && type.substr(kind.size()).starts_with('/')) return kind;
  }
  return "document";
}

std::string media_type_of(const Part& part) {
  return part.media_type.empty() ? "application/octet-stream" : part.media_type;
}

// The id and provider of a data part {"file":{...}}; for any other part the id is empty.
struct KeptFile {
  std::string id, provider;
};
KeptFile file_in(const Part& part) {
  if (part.kind != Part::Kind::data) return {};
  const auto document = json::Document::view_of(part.content);
  const json::Value file = document.root()["file"];
  return {file["id"].str(), file["provider"].str()};
}

void write_media(json::Writer& out, const Part& part) {
  const KeptFile file = file_in(part);
  out.member("type", kind_of(part.media_type)).key("source").object([&] {
    if (part.kind == Part::Kind::raw) {
      out.member("type", "data").member("value", part.content).member("mimeType", media_type_of(part));
    } else if (part.kind == Part::Kind::url) {
      out.member("type", "url").member("value", part.content).optional("mimeType", part.media_type);
    } else {
      out.member("type", "file").member("value", file.id).optional("provider", file.provider);
      out.optional("mimeType", part.media_type);
    }
  });
  if (!part.filename.empty()) out.key("metadata").object([&] { out.member("filename", part.filename); });
}

void write_binary(json::Writer& out, const Part& part) {
  out.member("type", "binary").member("mimeType", media_type_of(part));
  if (part.kind == Part::Kind::raw) out.member("data", part.content);
  if (part.kind == Part::Kind::url) out.member("url", part.content);
  if (part.kind == Part::Kind::data) out.member("id", file_in(part).id);
  out.optional("filename", part.filename);
}

}  // namespace

Result<std::vector<Part>> read_content(json::Value content, const std::string& name) {
  std::vector<Part> parts;
  if (content.absent()) return parts;
  if (content.is_string()) {
    parts.push_back(Part::of_text(content.str()));
    return parts;
  }
  if (!content.is_array()) return wrong(name + ": must be a string or a list of parts");
  std::size_t index = 0;
  for (const json::Value value : content) {
    auto part = read_one(value, json::item_name(name, index++));
    if (!part) return fail(std::move(part.error()));
    if (*part) parts.push_back(std::move(**part));
  }
  return parts;
}

Result<task::Json> read_result_content(json::Value content, const std::string& name) {
  if (content.absent()) return task::Json{R"("")"};
  if (!content.is_array()) return content.json();
  for (const json::Value value : content) {
    if (!value.is_object() || !value["type"].is_string()) return content.json();
  }
  auto parts = read_content(content, name);
  if (!parts) return fail(std::move(parts.error()));
  const bool texts = std::ranges::all_of(*parts, [](const Part& p) { return p.kind == Part::Kind::text; });
  if (!texts || parts->size() != content.size()) return content.json();
  return task::Json{json::string_of(task::text_of(*parts))};
}

bool shows_in_content(const Part& part) {
  return part.kind != Part::Kind::data || !file_in(part).id.empty();
}

void write_content(json::Writer& out, const std::vector<Part>& parts, bool newer) {
  const auto is_file = [](const Part& p) { return p.kind != Part::Kind::text && shows_in_content(p); };
  if (std::ranges::none_of(parts, is_file)) {
    out.string(task::text_of(parts));
    return;
  }
  out.array([&] {
    for (const Part& part : parts) {
      if (!shows_in_content(part)) continue;
      out.object([&] {
        if (part.kind == Part::Kind::text) {
          out.member("type", "text").member("text", part.content);
        } else if (newer) {
          write_media(out, part);
        } else {
          write_binary(out, part);
        }
      });
    }
  });
}

}  // namespace baton::protocol::agui
