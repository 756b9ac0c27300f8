#include "protocol/openai/content.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "json/fields.h"

namespace baton::protocol::openai {
namespace {

using base::fail;
using base::Result;
using json::wrong;
using task::Part;

// A file as a URL "data:...;base64,...", another URL, or, where there can be no URL, as base64.
Result<Part> read_file(std::string_view text, bool is_url, std::string media_type, const std::string& name) {
  constexpr std::string_view kScheme = "data:", kBase64 = ";base64";
  std::string_view bytes = text;
  if (base::begins_with(text, kScheme)) {
    const std::size_t comma = text.find(',');
    std::string_view type = text.substr(kScheme.size(), comma - std::min(comma, kScheme.size()));
    const std::string_view encoding = type.substr(type.size() - std::min(type.size(), kBase64.size()));
    if (comma == std::string_view::npos || !base::same_word(encoding, kBase64))
      return wrong(name + ": must be a data URL with base64");
    type.remove_suffix(kBase64.size());
    media_type = type;
    bytes = text.substr(comma + 1);
  } else if (is_url) {
    if (text.empty()) return wrong(name + ": must not be empty");
    return Part{Part::Kind::url, std::string(text), {}, std::move(media_type), {}};
  }
  auto raw = base::normalize_base64(bytes);
  if (!raw) return wrong(name + ": must be base64");
  return Part{Part::Kind::raw, std::move(*raw), {}, std::move(media_type), {}};
}

Part kept_file(std::string_view id) {
  Part part = Part::of_data({});
  json::Writer out(part.content);
  out.object([&] { out.key("file").object([&] { out.member("id", id); }); });
  return part;
}

// The members file_url, file_data and file_id of a file; `filename` beside them.
Result<Part> read_file_members(json::Value file, const std::string& name) {
  Result<Part> part = wrong(name + ": one of file_data, file_url and file_id is required");
  if (file["file_data"].is_string()) {
    part = read_file(file["file_data"].string(), false, {}, name + ".file_data");
  } else if (file["file_url"].is_string()) {
    part = read_file(file["file_url"].string(), true, {}, name + ".file_url");
  } else if (file["file_id"].is_string()) {
    part = kept_file(file["file_id"].string());
  }
  if (part) part->filename = file["filename"].str();
  return part;
}

// A URL, or an object with one.
Result<Part> read_url(json::Value given, const std::string& media_type, const std::string& name) {
  const json::Value url = given.is_object() ? given["url"] : given;
  if (!url.is_string()) return wrong(name + ": must be a URL");
  return read_file(url.string(), true, media_type, name);
}

Result<Part> read_image(json::Value value, const std::string& name) {
  const json::Value image = value["image_url"];
  if (image.absent() && value["file_id"].is_string()) return kept_file(value["file_id"].string());
  return read_url(image, "image/*", name + ".image_url");
}

Result<Part> read_audio(json::Value audio, const std::string& name) {
  if (!audio["data"].is_string()) return wrong(name + ".data: must be base64");
  const std::string format = audio["format"].string() == "mp3" ? "mpeg" : audio["format"].str();
  return read_file(audio["data"].string(), false, "audio/" + (format.empty() ? "*" : format), name + ".data");
}

// LangChain and Open WebUI keep in the content of an assistant what the model's own API has there: its
// reasoning, and its calls, which are in tool_calls, too.
bool is_models_own(std::string_view type) {
  constexpr std::array<std::string_view, 6> kOwn{"reasoning",         "thinking", "reasoning_content",
                                                 "redacted_thinking", "tool_use", "tool_call"};
  return std::ranges::count(kOwn, type) > 0;
}

Result<Part> read_part(json::Value value, const std::string& name) {
  const std::string_view type = value["type"].string();
  const auto text_of = [&](std::string_view member) -> Result<Part> {
    if (!value[member].is_string()) return wrong(name + "." + std::string(member) + ": must be a string");
    return Part::of_text(value[member].str());
  };
  if (type == "text" || type == "input_text" || type == "output_text") return text_of("text");
  if (type == "refusal") return text_of("refusal");
  if (type == "image_url" || type == "input_image") return read_image(value, name);
  // OpenAI has no videos. The AI SDK and the Agents SDK send them like this to other servers.
  if (type == "video_url") return read_url(value["video_url"], "video/*", name + ".video_url");
  if (type == "input_audio") return read_audio(value["input_audio"], name + ".input_audio");
  if (type == "file") return read_file_members(value["file"], name + ".file");
  if (type == "input_file") return read_file_members(value, name);
  return wrong(name + ".type: is not a known type of content");
}

}  // namespace

Result<std::vector<Part>> read_content(json::Value content, const std::string& name) {
  std::vector<Part> parts;
  if (content.absent()) return parts;
  if (content.is_string()) {
    parts.push_back(Part::of_text(content.str()));
    return parts;
  }
  if (!content.is_array()) return wrong(name + ": must be a string or a list");
  std::size_t index = 0;
  for (const json::Value value : content) {
    const std::string item = json::item_name(name, index++);
    if (is_models_own(value["type"].string())) continue;
    auto part = read_part(value, item);
    if (!part) return fail(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  return parts;
}

void write_input_content(json::Writer& out, const std::vector<Part>& parts) {
  out.each(parts, [&](const Part& part) {
    out.object([&] {
      const bool is_file = part.kind == Part::Kind::raw || part.kind == Part::Kind::url;
      if (!is_file) {
        out.member("type", "input_text").member("text", part.content);
        return;
      }
      const std::string url = task::file_url(part);
      if (base::essence_of(part.media_type).starts_with("image/")) {
        out.member("type", "input_image").member("image_url", url).member("detail", "auto");
      } else {
        out.member("type", "input_file").optional("filename", part.filename);
        out.member(part.kind == Part::Kind::url ? "file_url" : "file_data", url);
      }
    });
  });
}

}  // namespace baton::protocol::openai
