#include "protocol/agent_api/content.h"

#include <array>
#include <optional>
#include <string_view>

#include "base/base64.h"
#include "base/text.h"

namespace baton::protocol::agent_api {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using task::Part;

constexpr std::string_view kDataScheme = "data:";
constexpr std::string_view kBase64Mark = ";base64";

tl::unexpected<base::Error> wrong(const std::string& where, std::string_view name, std::string_view what) {
  return fail(ErrorCode::invalid_argument, where + "." + std::string(name) + " " + std::string(what));
}

Result<std::string> optional_text(json::Value content, std::string_view name, const std::string& where) {
  if (content[name].absent()) return std::string();
  if (!content[name].is_string()) return wrong(where, name, "must be a string");
  return content[name].str();
}

bool is_data_url(std::string_view text) {
  return base::same_word(text.substr(0, kDataScheme.size()), kDataScheme);
}

// Reads a data URL (RFC 2397) into `part`, which keeps its media type if the URL has none.
bool read_data_url(std::string_view url, Part& part) {
  url.remove_prefix(kDataScheme.size());
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return false;
  std::string_view type = url.substr(0, comma);
  const std::string_view data = url.substr(comma + 1);
  std::optional<std::string> bytes;
  if (type.size() >= kBase64Mark.size() &&
      base::same_word(type.substr(type.size() - kBase64Mark.size()), kBase64Mark)) {
    type.remove_suffix(kBase64Mark.size());
    bytes = base::normalize_base64(data);
  } else if (const auto plain = base::percent_decoded(data)) {
    bytes = base::encode_base64(*plain);
  }
  if (!bytes) return false;
  part.kind = Part::Kind::raw;
  part.content = std::move(*bytes);
  if (!type.empty() && type.front() != ';') part.media_type = type;
  return true;
}

enum class Bare { url, base64 };

// Reads a file from the member `name`: a data URL, another URL, or, if `bare` is base64, plain base64.
Result<Part> read_file_member(json::Value content, std::string_view name, Bare bare, std::string media_type,
                              const std::string& where) {
  const json::Value value = content[name].is_object() ? content[name]["url"] : content[name];
  if (!value.is_string()) {
    return wrong(where, name, content[name].absent() ? "is missing" : "must be a string");
  }
  const std::string_view text = value.string();
  auto known = optional_text(content, "media_type", where);
  if (!known) return fail(std::move(known.error()));
  Part part;
  part.media_type = known->empty() ? std::move(media_type) : std::move(*known);
  if (is_data_url(text)) {
    if (!read_data_url(text, part)) return wrong(where, name, "is not a data URL");
  } else if (bare == Bare::url || text.find("://") != std::string_view::npos) {
    if (text.empty()) return wrong(where, name, "must not be empty");
    part.kind = Part::Kind::url;
    part.content = text;
  } else {
    auto bytes = base::normalize_base64(text);
    if (!bytes) return wrong(where, name, "must be a URL or base64");
    part.kind = Part::Kind::raw;
    part.content = std::move(*bytes);
  }
  return part;
}

Result<Part> read_text(json::Value content, const std::string& where) {
  auto text = optional_text(content, "text", where);
  if (!text) return fail(std::move(text.error()));
  return Part::of_text(std::move(*text));
}

Result<Part> read_refusal(json::Value content, const std::string& where) {
  auto text = optional_text(content, "refusal", where);
  if (!text) return fail(std::move(text.error()));
  Part part = Part::of_text(std::move(*text));
  part.metadata.text = R"({"refusal":true})";
  return part;
}

Result<Part> read_image(json::Value content, const std::string& where) {
  return read_file_member(content, "image_url", Bare::url, "image/*", where);
}

Result<Part> read_video(json::Value content, const std::string& where) {
  return read_file_member(content, "video_url", Bare::url, "video/*", where);
}

Result<Part> read_data(json::Value content, const std::string& where) {
  if (content["data"].absent()) return wrong(where, "data", "is missing");
  return Part::of_data(content["data"].json());
}

Result<Part> read_audio(json::Value content, const std::string& where) {
  auto format = optional_text(content, "format", where);
  if (!format) return fail(std::move(format.error()));
  std::string media_type = std::move(*format);
  if (media_type == "mp3") media_type = "mpeg";
  if (media_type.empty()) media_type = "*";
  if (media_type.find('/') == std::string::npos) media_type.insert(0, "audio/");
  return read_file_member(content, "data", Bare::base64, std::move(media_type), where);
}

Part stored_file(std::string_view id) {
  task::Json data;
  json::Writer out(data.text);
  out.object([&] { out.key("file").object([&] { out.member("id", id); }); });
  return Part::of_data(std::move(data));
}

// Reads the bytes, or else the URL, or else an id that the agent may know.
Result<Part> read_file(json::Value content, const std::string& where) {
  auto name = optional_text(content, "filename", where);
  if (!name) return fail(std::move(name.error()));
  Result<Part> part = Part();
  if (!content["file_data"].absent()) {
    part = read_file_member(content, "file_data", Bare::base64, "application/octet-stream", where);
  } else if (!content["file_url"].absent()) {
    part = read_file_member(content, "file_url", Bare::url, "", where);
  } else if (content["file_id"].is_string()) {
    part = stored_file(content["file_id"].string());
  } else {
    return wrong(where, "file_data", "is missing; one of file_data, file_url and file_id is required");
  }
  if (part) part->filename = std::move(*name);
  return part;
}

struct Type {
  std::string_view name;
  Result<Part> (*read)(json::Value content, const std::string& where);
};
constexpr std::array kTypes{
    Type{"text", read_text},   Type{"image", read_image}, Type{"data", read_data},
    Type{"audio", read_audio}, Type{"file", read_file},   Type{"refusal", read_refusal},
    Type{"video", read_video},
};

bool is_of(const Part& part, std::string_view family) {
  return base::essence_of(part.media_type).starts_with(family);
}

bool is_refusal(const Part& part) {
  if (part.kind != Part::Kind::text || part.metadata.empty()) return false;
  return json::Document::view_of(part.metadata.text).root()["refusal"].boolean();
}

// "wav" of "audio/x-wav", "mp3" of "audio/mpeg".
std::string audio_format(std::string_view media_type) {
  std::string format = base::essence_of(media_type);
  format.erase(0, format.find('/') + 1);
  if (format.starts_with("x-")) format.erase(0, 2);
  if (format == "mpeg") return "mp3";
  return format == "*" ? std::string() : format;
}

void write_file(json::Writer& out, const Part& part) {
  out.member("type", "file");
  out.member(part.kind == Part::Kind::url ? "file_url" : "file_data", part.content);
  out.optional("filename", part.filename).optional("media_type", part.media_type);
}

// Data is always an object in this protocol.
void write_data(json::Writer& out, const Part& part) {
  out.member("type", "data").key("data");
  const std::size_t first = part.content.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && part.content[first] == '{')
    return static_cast<void>(out.raw(part.content));
  out.object([&] { out.key("value").raw(part.content); });
}

}  // namespace

Result<Part> read_content(json::Value content, const std::string& where) {
  if (content.is_string()) return Part::of_text(content.str());
  if (!content.is_object()) return fail(ErrorCode::invalid_argument, where + " must be an object");
  const json::Value type = content["type"];
  if (!type.absent() && !type.is_string()) return wrong(where, "type", "must be a string");
  if (type.absent() && content["text"].is_string()) return read_text(content, where);
  for (const Type& known : kTypes) {
    if (known.name == type.string()) return known.read(content, where);
  }
  return Part::of_data(content.json());
}

Result<std::vector<Part>> read_contents(json::Value contents, const std::string& where) {
  std::vector<Part> parts;
  if (contents.is_string()) {
    parts.push_back(Part::of_text(contents.str()));
    return parts;
  }
  if (!contents.is_array()) {
    return fail(ErrorCode::invalid_argument, where + (contents.absent() ? " is missing" : " must be a list"));
  }
  for (const json::Value content : contents) {
    auto part = read_content(content, where + "[" + std::to_string(parts.size()) + "]");
    if (!part) return fail(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  return parts;
}

bool is_plain_text(const Part& part) {
  return part.kind == Part::Kind::text && !is_refusal(part);
}

void write_content(json::Writer& out, const Part& part) {
  if (part.kind == Part::Kind::text) {
    const char* type = is_refusal(part) ? "refusal" : "text";
    out.member("type", type).member(type, part.content);
  } else if (part.kind == Part::Kind::data) {
    write_data(out, part);
  } else if (is_of(part, "image/")) {
    out.member("type", "image").member("image_url", task::file_url(part));
  } else if (is_of(part, "video/")) {
    out.member("type", "video").member("video_url", task::file_url(part));
  } else if (is_of(part, "audio/")) {
    out.member("type", "audio").member("data", part.content);
    out.optional("format", audio_format(part.media_type));
  } else {
    write_file(out, part);
  }
}

}  // namespace baton::protocol::agent_api
