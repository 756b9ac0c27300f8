#include "protocol/mcp/resources.h"

#include <array>

#include "base/base64.h"
#include "base/text.h"

namespace baton::protocol::mcp {
namespace {

using task::Part;

constexpr std::size_t kTextMax = 64 << 10;

bool is_text(std::string_view media_type) {
  const std::string type = base::essence_of(media_type);
  return type.starts_with("text/") || type.starts_with("application/json") ||
         type.starts_with("application/xml") || type.ends_with("+json") || type.ends_with("+xml");
}

}  // namespace

std::string resource_path(const ResourceName& name) {
  return "/tasks/" + base::percent_encoded(name.task.value) +
         (name.kind == ResourceName::Kind::artifact ? "/artifacts/" : "/messages/") +
         base::percent_encoded(name.id) + "/parts/" + std::to_string(name.part);
}

std::optional<ResourceName> read_resource_uri(std::string_view uri) {
  // "tasks", the task, "artifacts" or "messages", its id, "parts" and the number.
  std::array<std::string_view, 6> last;
  for (auto segment = last.rbegin(); segment != last.rend(); ++segment) {
    const std::size_t slash = uri.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    *segment = uri.substr(slash + 1);
    uri = uri.substr(0, slash);
  }
  const auto task = base::percent_decoded(last[1]), id = base::percent_decoded(last[3]);
  const auto part = base::number_in<std::int64_t>(last[5]);
  const bool is_artifact = last[2] == "artifacts";
  if (last[0] != "tasks" || (!is_artifact && last[2] != "messages") || last[4] != "parts")
    return std::nullopt;
  if (!task || task->empty() || !base::is_utf8(*task) || !id || !part || *part < 0) return std::nullopt;
  return ResourceName{{*task},
                      is_artifact ? ResourceName::Kind::artifact : ResourceName::Kind::message,
                      *id,
                      static_cast<std::size_t>(*part)};
}

std::optional<std::string> text_in(const Part& part) {
  if (part.kind == Part::Kind::text || part.kind == Part::Kind::data) return part.content;
  const bool may_be = part.kind == Part::Kind::raw && is_text(part.media_type);
  if (!may_be || task::content_size(part) > kTextMax) return std::nullopt;
  auto text = base::decode_base64(part.content);
  return text && base::is_utf8(*text) ? text : std::nullopt;
}

void write_resource(json::Writer& out, const Part& part) {
  out.optional("mimeType", part.media_type);
  if (const auto text = text_in(part)) {
    out.member("text", *text);
  } else if (part.kind == Part::Kind::raw) {
    out.member("blob", part.content);
  } else {
    out.member("text", part.content);  // the URL of a file elsewhere
  }
}

}  // namespace baton::protocol::mcp
