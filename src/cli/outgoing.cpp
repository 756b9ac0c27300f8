#include "cli/outgoing.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

#include "app/files.h"
#include "base/base64.h"
#include "base/text.h"
#include "cli/printable.h"
#include "json/document.h"

namespace baton::cli {
namespace {

constexpr std::size_t kSentFileMax = std::size_t{256} << 20;

struct MediaType {
  std::string_view extension;
  std::string_view type;
};
constexpr std::array kMediaTypes{
    MediaType{"txt", "text/plain"},
    MediaType{"md", "text/markdown"},
    MediaType{"csv", "text/csv"},
    MediaType{"tsv", "text/tab-separated-values"},
    MediaType{"htm", "text/html"},
    MediaType{"html", "text/html"},
    MediaType{"css", "text/css"},
    MediaType{"js", "text/javascript"},
    MediaType{"py", "text/x-python"},
    MediaType{"xml", "application/xml"},
    MediaType{"json", "application/json"},
    MediaType{"yaml", "application/yaml"},
    MediaType{"yml", "application/yaml"},
    MediaType{"pdf", "application/pdf"},
    MediaType{"zip", "application/zip"},
    MediaType{"gz", "application/gzip"},
    MediaType{"tar", "application/x-tar"},
    MediaType{"png", "image/png"},
    MediaType{"jpg", "image/jpeg"},
    MediaType{"jpeg", "image/jpeg"},
    MediaType{"gif", "image/gif"},
    MediaType{"webp", "image/webp"},
    MediaType{"svg", "image/svg+xml"},
    MediaType{"mp3", "audio/mpeg"},
    MediaType{"wav", "audio/wav"},
    MediaType{"mp4", "video/mp4"},
    MediaType{"webm", "video/webm"},
    MediaType{"ogg", "audio/ogg"},
    MediaType{"avif", "image/avif"},
    MediaType{"ts", "text/typescript"},
    MediaType{"jsonl", "application/jsonl"},
    MediaType{"rtf", "application/rtf"},
    MediaType{"epub", "application/epub+zip"},
    MediaType{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    MediaType{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    MediaType{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
};

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

auto wrong_message(const std::string& what) {
  return base::fail(base::ErrorCode::invalid_argument, what);
}

// Reads the descriptor, not /dev/stdin: that cannot be opened if it is a socket, as Node makes for child
// processes, and it starts at the beginning of a file that a shell has already read in part.
base::Result<std::string> standard_input() {
  std::string text, piece(64 << 10, '\0');
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return wrong_message("cannot read standard input");
    if (got == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(got));
    if (text.size() > kSentFileMax)
      return wrong_message("standard input is larger than " + std::to_string(kSentFileMax) + " bytes");
  }
}

base::Result<std::string> message_text(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "-") return standard_input();
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

struct NamedFile {
  std::string path;
  std::string media_type;
};

bool is_media_type(std::string_view text) {
  const auto is_token = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("!#$&^_.+-").find(c) != std::string_view::npos;
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  const std::string_view subtype = text.substr(slash + 1, text.find(';') - slash - 1);
  return std::ranges::all_of(text.substr(0, slash), is_token) && std::ranges::all_of(subtype, is_token);
}

// Splits "report.pdf:application/pdf", unless a file with that whole name exists.
NamedFile named_file(const std::string& word) {
  const std::size_t colon = word.rfind(':');
  const bool is_typed = colon != std::string::npos && colon > 0 && is_media_type(word.substr(colon + 1)) &&
                        ::access(word.c_str(), F_OK) != 0;
  if (!is_typed) return {word, std::string(media_type_of(word))};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

}  // namespace

std::string_view media_type_of(std::string_view file_name) {
  constexpr std::string_view kUnknown = "application/octet-stream";
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos) return kUnknown;
  std::string extension(file_name.substr(dot + 1));
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(kMediaTypes, std::string_view(extension), &MediaType::extension);
  return found == kMediaTypes.end() ? kUnknown : found->type;
}

base::Result<task::Message> make_message(const OutgoingParts& parts) {
  using Kind = task::Part::Kind;
  task::Message message;
  const auto text = message_text(parts.text);
  if (!text) return wrong_message(text.error().for_caller);
  if (!base::is_utf8(*text)) return wrong_message("the text is not UTF-8; send it as a file");
  if (!text->empty()) message.parts.push_back(task::Part::of_text(*text));
  for (const std::string& name : parts.files) {
    const NamedFile file = named_file(name);
    const auto bytes = app::read_file(file.path, kSentFileMax);
    if (!bytes) return wrong_message(bytes.error().for_caller);
    message.parts.push_back({Kind::raw,
                             base::encode_base64(*bytes),
                             base::replaced_utf8(base_name(file.path)),
                             file.media_type,
                             {}});
  }
  for (const std::string& uri : parts.file_uris) {
    if (!base::is_utf8(uri)) return wrong_message("the URL of a file is not UTF-8");
    message.parts.push_back({Kind::url, uri, base_name(uri), std::string(media_type_of(uri)), {}});
  }
  for (const std::string& json : parts.data) {
    const auto document = json::Document::parse_view(json);
    if (!document) return wrong_message("--data is not JSON: " + document.error().for_caller);
    message.parts.push_back(task::Part::of_data(document->root().json()));
  }
  if (message.parts.empty())
    return wrong_message("there is nothing to send: give a text, --file, --file-uri or --data");
  return message;
}

}  // namespace baton::cli
