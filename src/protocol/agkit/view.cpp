#include "protocol/agkit/view.h"

#include <algorithm>

#include "json/writer.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agkit {
namespace {

constexpr std::string_view kNoResult = "The tool gave no result.";

// The number of bytes in standard base64 with padding.
std::size_t size_behind(std::string_view base64) {
  const std::size_t padding = base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0;
  return base64.size() / 4 * 3 - padding;
}

// Text is all there is: a file is named, and data is shown as it is.
std::string line_for(const task::Part& part) {
  const std::string name = part.filename.empty() ? "file" : part.filename;
  switch (part.kind) {
    case task::Part::Kind::text:
    case task::Part::Kind::data:
      return part.content;
    case task::Part::Kind::url:
      return part.filename.empty() ? part.content : name + ": " + part.content;
    case task::Part::Kind::raw:
      break;
  }
  const std::string type = part.media_type.empty() ? "" : part.media_type + ", ";
  return name + " (" + type + std::to_string(size_behind(part.content)) + " bytes)";
}

template <class F>
void add_event(chat::Frames& out, std::string_view type, F&& members) {
  json::Writer writer(out.add());
  writer.object([&] {
    writer.member("type", type);
    members(writer);
  });
}

void add_text(chat::Frames& out, std::string_view piece) {
  add_event(out, "text", [&](json::Writer& event) { event.member("content", piece); });
}

void add_interrupt(chat::Frames& out, const chat::Question& question) {
  add_event(out, "interrupt", [&](json::Writer& event) {
    event.member("id", question.id).member("reason", question.for_auth ? "auth" : "input_required");
    event.key("payload").object([&] {
      event.member("prompt", chat::prompt_of(question)).optional("schema", question.schema);
      event.optional("url", question.url).optional("details", question.details);
    });
  });
}

// Writes the events without a break: the client looks for a call only in the last message.
void add_call(chat::Frames& out, std::string_view id, std::string_view name, std::string_view arguments) {
  add_event(out, "tool-call-start",
            [&](json::Writer& event) { event.member("toolCallId", id).member("toolCallName", name); });
  add_event(out, "tool-call-args",
            [&](json::Writer& event) { event.member("toolCallId", id).member("delta", arguments); });
  add_event(out, "tool-call-end", [&](json::Writer& event) { event.member("toolCallId", id); });
}

void add_result(chat::Frames& out, std::string_view id, std::string_view text) {
  add_event(out, "tool-result",
            [&](json::Writer& event) { event.member("toolCallId", id).member("result", text); });
}

}  // namespace

void show_interrupt(const chat::Question& question, chat::Frames& out) {
  add_text(out, chat::prompt_of(question));
  add_interrupt(out, question);
}

void View::show(const task::Event& event, chat::Frames& out) {
  if (over_) return;
  if (const auto* changed = task::status_in(event)) {
    show_status(*changed, out);
  } else if (const auto* delta = std::get_if<task::TextDelta>(&event.body)) {
    show_delta(*delta, out);
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    show_chunk(*chunk, out);
  } else if (const auto* call = std::get_if<task::ToolCall>(&event.body)) {
    show_call(*call, event.number, out);
  } else if (const auto* result = std::get_if<task::ToolResult>(&event.body)) {
    show_result(*result, out);
  } else if (const auto* added = std::get_if<task::MessageAdded>(&event.body)) {
    if (added->message.role == task::Role::agent) show_message(added->message, out);
  } else if (std::holds_alternative<task::Withdrawn>(event.body)) {
    close_calls(out);
    unit_.clear();
  }
}

void View::show_status(const task::StatusChanged& changed, chat::Frames& out) {
  const task::State state = changed.status.state;
  if (!task::is_stopped(state)) return;
  close_calls(out);
  if (task::is_waiting(state)) {
    ask(chat::question_in(changed), out);
  } else if (state == task::State::completed || state == task::State::canceled) {
    if (changed.status.message) show_message(*changed.status.message, out);
  } else {
    const std::string why = chat::reason_of(changed);
    unit_.clear();
    say({}, why, out);  // clients skip `error`
    add_event(out, "error", [&](json::Writer& event) { event.member("error", why); });
  }
  out.add() = "[DONE]";
  over_ = true;
}

void View::show_delta(const task::TextDelta& delta, chat::Frames& out) {
  if (delta.first) unit_.clear();
  say(delta.reply.value, delta.text, out);
}

void View::show_chunk(const task::ArtifactChunk& chunk, chat::Frames& out) {
  bool continues = chunk.append;
  for (const task::Part& part : chunk.artifact.parts) {
    const bool is_text = part.kind == task::Part::Kind::text;
    if (!continues || !is_text) unit_.clear();
    say(chunk.artifact.id.value, line_for(part), out);
    if (!is_text) unit_.clear();
    continues = false;
  }
}

void View::show_message(const task::Message& message, chat::Frames& out) {
  unit_.clear();
  say({}, task::text_of(message), out);
  for (const task::Part& part : message.parts) {
    if (part.kind == task::Part::Kind::text) continue;
    say({}, line_for(part), out);
  }
}

void View::show_call(const task::ToolCall& call, task::EventNumber number, chat::Frames& out) {
  std::string shown = call.id;
  const bool repeats = call_ids_.contains(call.id);
  if (repeats && !call.by_client) shown += "-" + std::to_string(number.value);
  call_ids_.insert(shown);
  add_call(out, shown, call.name, call.arguments.empty() ? "{}" : call.arguments.text);
  if (!call.by_client) open_calls_.push_back({call.id, std::move(shown)});
}

void View::show_result(const task::ToolResult& result, chat::Frames& out) {
  const auto call = std::find_if(open_calls_.begin(), open_calls_.end(),
                                 [&](const OpenCall& open) { return open.id == result.id; });
  if (call == open_calls_.end()) return;
  add_result(out, call->shown, chat::text_of(result));
  open_calls_.erase(call);
  after_text_ = false;
}

void View::ask(const chat::Question& question, chat::Frames& out) {
  if (question.for_tool) return;
  if (chat::asks_by_tool(facts_, question)) {
    return add_call(out, question.id, facts_.confirm_tool, chat::arguments_of(question));
  }
  unit_.clear();
  // Clients show an interrupt only inside a message, which the text makes.
  say({}, chat::prompt_of(question), out);
  add_interrupt(out, question);
}

void View::say(const std::string& unit, std::string_view text, chat::Frames& out) {
  if (text.empty()) return;
  const bool continues = !unit.empty() && unit == unit_;
  if (after_text_ && !continues) add_text(out, "\n\n");
  add_text(out, text);
  unit_ = unit;
  after_text_ = true;
}

void View::close_calls(chat::Frames& out) {
  for (const OpenCall& call : open_calls_) add_result(out, call.shown, kNoResult);
  if (!open_calls_.empty()) after_text_ = false;
  open_calls_.clear();
}

}  // namespace baton::protocol::agkit
