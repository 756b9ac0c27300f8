#include "protocol/chat/run_view.h"

#include "json/document.h"
#include "json/writer.h"

namespace baton::protocol::chat {

std::vector<std::string> tool_names(const task::Json& tools) {
  std::vector<std::string> names;
  const auto document = json::Document::view_of(tools.text);
  if (!document.root().is_array()) return names;
  for (const json::Value tool : document.root()) {
    const json::Value name = tool["name"].is_string() ? tool["name"] : tool["function"]["name"];
    if (name.is_string()) names.push_back(name.str());
  }
  return names;
}

std::string reason_of(const task::StatusChanged& end) {
  const std::string reason = end.status.message ? task::text_of(*end.status.message) : std::string();
  if (!reason.empty()) return reason;
  const bool failed = end.status.state == task::State::failed;
  return failed ? "The agent failed." : "The agent rejected the request.";
}

Question question_in(const task::StatusChanged& waiting) {
  Question question;
  question.id = waiting.ask;
  question.for_auth = waiting.status.state == task::State::auth_required;
  if (!waiting.status.message) return question;
  std::string details;
  json::Writer list(details);
  bool any = false;
  list.array([&] {
    for (const task::Part& part : waiting.status.message->parts) {
      if (part.kind != task::Part::Kind::data) continue;
      const auto document = json::Document::view_of(part.content);
      const json::Value data = document.root();
      if (data.missing()) continue;
      if (data["toolCall"].is_object()) {
        question.for_tool = true;
      } else if (data.size() == 1 && data["schema"].is_object()) {
        question.schema = data["schema"].json();
      } else if (data.size() == 1 && data["url"].is_string()) {
        question.url = data["url"].str();
      } else {
        list.raw(part.content);
        any = true;
      }
    }
  });
  if (question.for_tool) return question;
  question.prompt = task::text_of(*waiting.status.message);
  if (any) question.details.text = std::move(details);
  return question;
}

}  // namespace baton::protocol::chat
