#include "protocol/models/shared/parts.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/text.h"

namespace baton::protocol::models {
namespace {

using Kind = task::Part::Kind;

bool is_file(const task::Part& part) {
  return part.kind == Kind::raw || part.kind == Kind::url;
}

bool is_text_file(const task::Part& part) {
  constexpr std::array kTexts{"application/json", "application/xml", "application/yaml"};
  const std::string type = base::essence_of(part.media_type);
  return part.kind == Kind::raw && (type.starts_with("text/") || std::ranges::count(kTexts, type) > 0);
}

std::string note_of(const task::Part& part) {
  const std::string type = part.media_type.empty() ? "" : ", " + part.media_type;
  const std::string name = file_name(part, "without a name");
  if (part.kind == Kind::url) return "[File " + name + type + ": " + part.content + "]";
  return "[File " + name + type + ", " + std::to_string(task::content_size(part)) + " bytes, not shown]";
}

}  // namespace

bool is_image(const task::Part& part) {
  return is_file(part) && base::essence_of(part.media_type).starts_with("image/");
}

bool is_common_image(const task::Part& part) {
  constexpr std::array kTypes{"image/jpeg", "image/png", "image/gif", "image/webp"};
  return is_file(part) && std::ranges::count(kTypes, base::essence_of(part.media_type)) > 0;
}

bool is_pdf(const task::Part& part) {
  return is_file(part) && base::essence_of(part.media_type) == "application/pdf";
}

std::string words_of(const task::Part& part) {
  if (!is_file(part)) return part.content;
  if (is_text_file(part)) {
    const auto text = base::decode_base64(part.content);
    if (text && base::is_utf8(*text)) return "File " + file_name(part, "without a name") + ":\n" + *text;
  }
  return note_of(part);
}

std::string words_of(const std::vector<task::Part>& parts) {
  std::string text;
  for (const task::Part& part : parts) text += (text.empty() ? "" : "\n") + words_of(part);
  return text;
}

std::string file_name(const task::Part& part, std::string_view otherwise) {
  return part.filename.empty() ? std::string(otherwise) : part.filename;
}

}  // namespace baton::protocol::models
