#include "grpc/base64_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include "wire/base64.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::grpc {
namespace {

constexpr std::string_view kBytes = "fileWithBytes";

// The decoded field if it is base64 text itself; otherwise nothing.
std::optional<std::string> text_in(std::string_view field) {
  auto text = wire::decode_base64(field);
  if (!text || text->empty()) return std::nullopt;
  const auto normal = wire::normalize_base64(*text);
  if (!normal || *normal != *text) return std::nullopt;
  return text;
}

// Writes a file, which is at message.content[].file.
void write_file(wire::Writer& out, wire::Value file) {
  out.object([&] {
    for (const wire::Value member : file) {
      const auto text = member.key() == kBytes ? text_in(member.string()) : std::nullopt;
      if (text) {
        out.member(kBytes, *text);
      } else {
        out.key(member.key()).raw(member.raw());
      }
    }
  });
}

// Copies the value and rewrites the files at `path`.
void write_along(wire::Writer& out, wire::Value value, const std::string_view* path,
                 const std::string_view* end) {
  if (path == end) {
    if (value.is_object()) return write_file(out, value);
    return static_cast<void>(out.raw(value.raw()));
  }
  if (value.is_array()) {
    out.array([&] {
      for (const wire::Value item : value) write_along(out, item, path, end);
    });
  } else if (value.is_object()) {
    out.object([&] {
      for (const wire::Value member : value) {
        out.key(member.key());
        if (member.key() == *path) {
          write_along(out, member, path + 1, end);
        } else {
          out.raw(member.raw());
        }
      }
    });
  } else {
    out.raw(value.raw());
  }
}

}  // namespace

bool may_send_base64_text(std::string_view user_agent) {
  constexpr std::array<std::string_view, 3> kNames{"grpc-python", "grpc-go/", "grpc-java"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return user_agent.find(name) != std::string_view::npos; });
}

std::string with_files_decoded(std::string json) {
  if (json.find(kBytes) == std::string::npos) return json;
  const auto document = wire::Document::parse_view(json);
  if (!document) return json;
  constexpr std::array<std::string_view, 3> kPath{"message", "content", "file"};
  std::string decoded;
  wire::Writer out(decoded);
  write_along(out, document->root(), kPath.data(), kPath.data() + kPath.size());
  return decoded;
}

}  // namespace baton::grpc
