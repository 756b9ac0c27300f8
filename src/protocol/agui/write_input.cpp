#include "protocol/agui/write_input.h"

#include "json/document.h"
#include "json/writer.h"
#include "protocol/agui/run_frames.h"

namespace baton::protocol::agui {

std::string write_input(const ClientRun& run) {
  std::string text;
  json::Writer out(text);
  const auto json_or = [](const task::Json& json, const char* otherwise) {
    return json.empty() ? std::string(otherwise) : json.text;
  };
  out.object([&] {
    out.member("threadId", run.thread).member("runId", run.run);
    if (run.newer) out.member("protocolVersion", "1.0");
    out.key("state").raw(json_or(run.state, "{}"));
    write_messages(out.key("messages"), run.messages, run.newer);
    out.key("tools").raw(json_or(run.tools, "[]"));
    out.key("context").raw(json_or(run.context, "[]"));
    out.key("forwardedProps").raw(json_or(run.forwarded_props, "{}"));
    if (run.answers.empty()) return;
    out.key("resume").each(run.answers, [&](const chat::Answer& answer) {
      out.object([&] {
        out.member("interruptId", answer.ask).member("status", answer.cancelled ? "cancelled" : "resolved");
        out.optional("payload", answer.payload);
      });
    });
  });
  return text;
}

chat::Answer answer_in(const task::Message& message) {
  chat::Answer answer;
  for (const task::Part& part : message.parts) {
    if (part.kind != task::Part::Kind::data) continue;
    const auto document = json::Document::view_of(part.content);
    const json::Value data = document.root();
    answer.cancelled = data.size() == 1 && data["cancelled"].is_bool() && data["cancelled"].boolean();
    if (!answer.cancelled) answer.payload.text = part.content;
    return answer;
  }
  answer.payload.text = json::string_of(task::text_of(message));
  return answer;
}

}  // namespace baton::protocol::agui
