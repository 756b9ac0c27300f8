#include "server/show/download.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/base64.h"
#include "base/text.h"
#include "http/http_text.h"

namespace baton::server {
namespace {

constexpr std::string_view kAnyBytes = "application/octet-stream";
// No types with markup, script or style. Text is UTF-8.
constexpr std::array<std::string_view, 31> kSafeTypes{
    "application/gzip",
    "application/json",
    "application/msword",
    "application/pdf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/x-tar",
    "application/yaml",
    "application/zip",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/tab-separated-values",
    "video/mp4",
    "video/webm",
};
constexpr std::size_t kFilenameMax = 255;

std::string_view type_of(const task::Part& part) {
  if (!part.media_type.empty()) return part.media_type;
  if (part.kind == task::Part::Kind::text) return "text/plain";
  return part.kind == task::Part::Kind::data ? "application/json" : kAnyBytes;
}

// The file name for old clients: plain ASCII, without path separators or control characters, with its real
// extension.
std::string ascii_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("-_. ()").find(c) != std::string_view::npos;
    out.push_back(plain ? c : '_');
  }
  return out;
}

std::string disposition(std::string_view name) {
  name = name.substr(name.find_last_of("/\\") + 1);
  if (name.empty() || name.size() > kFilenameMax || !base::is_utf8(name)) return "attachment";
  return "attachment; filename=\"" + ascii_name(name) + "\"; filename*=UTF-8''" + base::percent_encoded(name);
}

struct Range {
  std::size_t first = 0, last = 0;
};
enum class Asked { whole, range, beyond };

// A header that is malformed, has several ranges or uses another unit is ignored.
Asked read_range(std::string_view header, std::size_t size, Range& range) {
  constexpr std::string_view kBytes = "bytes=";
  header = http::trimmed(header);
  if (header.size() < kBytes.size() || !base::same_word(header.substr(0, kBytes.size()), kBytes)) {
    return Asked::whole;
  }
  const std::string_view set = http::trimmed(header.substr(kBytes.size()));
  const std::size_t dash = set.find('-');
  if (dash == std::string_view::npos || set.find(',') != std::string_view::npos) return Asked::whole;
  const auto first = base::number_in<std::size_t>(set.substr(0, dash));
  const auto last = base::number_in<std::size_t>(set.substr(dash + 1));
  if (dash == 0) {
    if (!last) return Asked::whole;
    if (*last == 0 || size == 0) return Asked::beyond;
    range = {size - std::min(*last, size), size - 1};
    return Asked::range;
  }
  const bool open = dash + 1 == set.size();
  if (!first || (!last && !open) || (last && *last < *first)) return Asked::whole;
  if (*first >= size) return Asked::beyond;
  range = {*first, open ? size - 1 : std::min(*last, size - 1)};
  return Asked::range;
}

}  // namespace

std::string safe_media_type(std::string_view type) {
  const std::string essence = base::essence_of(type);
  if (std::ranges::find(kSafeTypes, essence) == kSafeTypes.end()) return std::string(kAnyBytes);
  return essence.starts_with("text/") ? essence + "; charset=utf-8" : essence;
}

base::Result<Download> download_of(const std::vector<task::Part>& parts) {
  if (parts.empty()) return base::fail(base::ErrorCode::not_found, "part not found");
  Download download;
  download.media_type = type_of(parts.front());
  download.filename = parts.front().filename;
  for (const task::Part& part : parts) {
    if (part.kind == task::Part::Kind::url) {
      return base::fail(base::ErrorCode::not_found, "the part is a link: fetch it from its own URL");
    }
    if (part.kind != task::Part::Kind::raw) {
      download.bytes += part.content;
      continue;
    }
    const auto bytes = base::decode_base64(part.content);
    if (!bytes)
      return base::fail(base::ErrorCode::internal, "cannot read the part", "it is not valid base64");
    download.bytes += *bytes;
  }
  return download;
}

http::Reply download_reply(const http::Request& request, Download download, std::string_view version) {
  const std::string etag = '"' + std::string(version) + '"';
  const std::size_t size = download.bytes.size();
  const std::string_view if_range = http::trimmed(request.header("If-Range"));
  Range range;
  Asked asked = Asked::whole;
  if (if_range.empty() || if_range == etag) asked = read_range(request.header("Range"), size, range);
  http::Reply reply;
  reply.content_type = safe_media_type(download.media_type);
  reply.headers = {{"Content-Disposition", disposition(download.filename)},
                   {"Content-Security-Policy", "sandbox; default-src 'none'"},
                   {"Cache-Control", "private, no-cache"},
                   {"Accept-Ranges", "bytes"},
                   {"ETag", etag}};
  if (asked == Asked::beyond) {
    reply.status = 416;
    reply.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
    return reply;
  }
  reply.body = std::move(download.bytes);
  if (asked == Asked::whole) return reply;
  reply.status = 206;
  reply.headers.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                                  std::to_string(range.last) + "/" + std::to_string(size));
  reply.body.resize(range.last + 1);
  reply.body.erase(0, range.first);
  return reply;
}

}  // namespace baton::server
