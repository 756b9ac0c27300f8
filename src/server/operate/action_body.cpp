#include "server/operate/action_body.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::server::operate {

using base::ErrorCode;
using base::fail;

base::Result<ActionBody> ActionBody::read(const Call& call, const std::vector<std::string_view>& members) {
  auto document = json::Document::parse(call.request().body);
  if (!document) return fail(document.error());
  const json::Value root = document->root();
  if (!root.is_object()) return fail(ErrorCode::invalid_argument, "the body must be an object with a reason");
  for (const json::Value member : root) {
    const std::string name(member.key());
    if (root.repeats(name)) return fail(ErrorCode::invalid_argument, name + ": is given more than once");
    if (name == "reason" || std::ranges::find(members, name) != members.end()) continue;
    return fail(ErrorCode::invalid_argument, std::string(base::beginning_of(name, 100)) + ": is unknown");
  }
  engine::Actor actor{call.by.name, root["reason"].str()};
  const bool has_words = actor.reason.find_first_not_of(" \t\r\n") != std::string::npos;
  if (!has_words || actor.reason.size() > engine::kReasonMax) {
    return fail(ErrorCode::invalid_argument,
                "reason: is required, with at most " + std::to_string(engine::kReasonMax) + " bytes");
  }
  return ActionBody(std::move(*document), std::move(actor));
}

base::Result<std::optional<task::Message>> ActionBody::message() const {
  const json::Value given = document_.root()["message"];
  if (given.absent()) return std::optional<task::Message>();
  auto message = protocol::v1::read_message(given);
  if (!message) return fail(message.error());
  message->role = task::Role::user;
  return std::optional<task::Message>(std::move(*message));
}

base::Result<std::optional<engine::OperatorActions::Edited>> ActionBody::edited() const {
  using Edited = engine::OperatorActions::Edited;
  const json::Value given = document_.root()["message"];
  if (given.absent()) return std::optional<Edited>();
  if (!given.is_object()) return fail(ErrorCode::invalid_argument, "message: must be an object");
  std::vector<std::pair<std::size_t, std::size_t>> kept;
  // A copy of the message, with an empty text for each part that is kept.
  std::string text;
  json::Writer out(text);
  out.object([&] {
    for (const json::Value member : given) {
      out.key(member.key());
      if (member.key() != "parts" || !member.is_array()) {
        out.raw(member.raw());
        continue;
      }
      std::size_t place = 0;
      out.array([&] {
        for (const json::Value part : member) {
          const auto number = part.is_object() ? part["part"].integer() : std::nullopt;
          if (number && *number >= 0) {
            kept.emplace_back(place, static_cast<std::size_t>(*number));
            out.object([&] { out.member("text", ""); });
          } else {
            out.raw(part.raw());
          }
          ++place;
        }
      });
    }
  });
  const auto document = json::Document::parse(std::move(text));
  if (!document) return fail(document.error());
  auto message = protocol::v1::read_message(document->root());
  if (!message) return fail(message.error());
  message->role = task::Role::user;
  Edited edited(std::move(*message));
  edited.kept = std::move(kept);
  return std::optional<Edited>(std::move(edited));
}

}  // namespace baton::server::operate
