#include <string_view>

#include "protocol/agent_api/content.h"

namespace baton::protocol::agent_api {
namespace {

using task::Part;

bool is_of(const Part& part, std::string_view family) {
  return std::string_view(part.media_type).substr(0, family.size()) == family;
}

bool is_refusal(const Part& part) {
  if (part.kind != Part::Kind::text || part.metadata.empty()) return false;
  const auto metadata = json::Document::parse_view(part.metadata.text);
  return metadata && metadata->root()["refusal"].boolean();
}

std::string url_of(const Part& part) {
  if (part.kind == Part::Kind::url) return part.content;
  return "data:" + part.media_type + ";base64," + part.content;
}

// "wav" of "audio/x-wav", "mp3" of "audio/mpeg".
std::string_view audio_format(std::string_view media_type) {
  std::string_view format = media_type.substr(media_type.find('/') + 1);
  format = format.substr(0, format.find(';'));
  if (format.substr(0, 2) == "x-") format.remove_prefix(2);
  if (format == "mpeg") return "mp3";
  return format == "*" ? std::string_view() : format;
}

void write_file(json::Writer& out, const Part& part) {
  out.member("type", "file");
  out.member(part.kind == Part::Kind::url ? "file_url" : "file_data", part.content);
  out.optional("filename", part.filename).optional("media_type", part.media_type);
}

// Data is always an object in this protocol.
void write_data(json::Writer& out, const Part& part) {
  out.member("type", "data").key("data");
  const bool object = part.content.find_first_not_of(" \t\r\n") != std::string::npos &&
                      part.content[part.content.find_first_not_of(" \t\r\n")] == '{';
  if (object) {
    out.raw(part.content);
  } else {
    out.object([&] { out.key("value").raw(part.content); });
  }
}

}  // namespace

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
    out.member("type", "image").member("image_url", url_of(part));
  } else if (is_of(part, "video/")) {
    out.member("type", "video").member("video_url", url_of(part));
  } else if (is_of(part, "audio/")) {
    out.member("type", "audio").member("data", part.content);
    out.optional("format", audio_format(part.media_type));
  } else {
    write_file(out, part);
  }
}

}  // namespace baton::protocol::agent_api
