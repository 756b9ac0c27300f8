#include "protocol/agent_server/view.h"

#include <algorithm>

#include "json/document.h"
#include "protocol/agent_api/content.h"
#include "protocol/chat/names.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agent_server {
namespace {

using task::Part;

constexpr std::string_view kCompleted = "completed";
constexpr std::string_view kIncomplete = "incomplete";

// A content as in a finished message: one of the Agent API, with the name of its object.
std::string content_of(const Part& part) {
  std::string json;
  json::Writer out(json);
  out.object([&] {
    out.member("object", "content");
    agent_api::write_content(out, part);
  });
  return json;
}

// The arguments of a tool as an object, whatever they were.
std::string as_input(const task::Json& arguments) {
  if (arguments.empty()) return "{}";
  const auto document = json::Document::parse_view(arguments.text);
  if (document && document->root().is_object()) return arguments.text;
  return R"({"value":)" + arguments.text + "}";
}

// No client of this protocol runs tools, so a call for one is shown in words.
std::string request_for(const task::ToolCall& call) {
  const std::string arguments = call.arguments.empty() ? "{}" : call.arguments.text;
  return "The agent waits for the result of the tool \"" + call.name + "\" with " + arguments + ".";
}

}  // namespace

void View::show(const task::Event& event, chat::Frames& out) {
  if (over_) return;
  now_ = event.number;
  if (response_id_.empty()) begin(event, out);
  if (const auto* changed = task::status_in(event)) {
    show_status(*changed, out);
  } else if (const auto* delta = std::get_if<task::TextDelta>(&event.body)) {
    show_delta(*delta, out);
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    show_chunk(*chunk, out);
  } else if (const auto* call = std::get_if<task::ToolCall>(&event.body)) {
    show_call(*call, out);
  } else if (const auto* result = std::get_if<task::ToolResult>(&event.body)) {
    show_result(*result, out);
  } else if (const auto* added = std::get_if<task::MessageAdded>(&event.body)) {
    if (added->message.role == task::Role::agent) say(added->message.parts, out);
  } else if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event.body)) {
    show_withdrawn(*withdrawn, out);
  }
}

void View::show_status(const task::StatusChanged& changed, chat::Frames& out) {
  const task::State state = changed.status.state;
  if (state == task::State::working) go_to_work(out);
  if (!task::is_stopped(state)) return;
  const bool well = state == task::State::completed || task::is_waiting(state);
  end_all(well ? kCompleted : kIncomplete, out);
  if (task::is_waiting(state)) {
    ask(chat::question_in(changed), out);
  } else if (state == task::State::completed && changed.status.message) {
    say(changed.status.message->parts, out);
  }
  over_ = true;
  if (well) return respond(kCompleted, out);
  if (state == task::State::canceled && !changed.status.message) return respond("canceled", out);
  const std::string_view name = task::name_of(state);
  const Failure failure{name, chat::reason_of(changed)};
  respond(name, out, &failure);
}

void View::show_delta(const task::TextDelta& delta, chat::Frames& out) {
  const std::string& id = delta.reply.value;
  add_text(message_for(id, id, delta.first, out), delta.text, out);
  if (delta.last) end(id, kCompleted, out);
}

void View::show_chunk(const task::ArtifactChunk& chunk, chat::Frames& out) {
  const std::string& id = chunk.artifact.id.value;
  const std::string wish = chat::is_unique(id, facts_.task) ? id : own_id();
  Message& message = message_for(id, wish, !chunk.append, out);
  bool continues = chunk.append;
  for (const Part& part : chunk.artifact.parts) {
    if (continues && agent_api::is_plain_text(part)) {
      add_text(message, part.content, out);
    } else {
      add_part(message, part, out);
    }
    continues = false;
  }
  if (chunk.last_chunk) end(id, kCompleted, out);
}

void View::show_call(const task::ToolCall& call, chat::Frames& out) {
  if (call.by_client) return say({Part::of_text(request_for(call))}, out);
  calls_.emplace_back(call.id, call.name);
  std::string data;
  json::Writer writer(data);
  writer.object([&] {
    writer.member("type", "tool_use").member("id", call.id).member("name", call.name);
    writer.key("input").raw(as_input(call.arguments));
  });
  add_tool_use("plugin_call", data, out);
}

void View::show_result(const task::ToolResult& result, chat::Frames& out) {
  const auto call = std::find_if(calls_.rbegin(), calls_.rend(),
                                 [&](const auto& earlier) { return earlier.first == result.id; });
  std::string data;
  json::Writer writer(data);
  writer.object([&] {
    writer.member("type", "tool_result").member("id", result.id);
    writer.member("name", call == calls_.rend() ? std::string() : call->second);
    writer.key("output").array(
        [&] { writer.object([&] { writer.member("type", "text").member("text", chat::text_of(result)); }); });
  });
  add_tool_use("plugin_call_output", data, out);
}

void View::show_withdrawn(const task::Withdrawn& withdrawn, chat::Frames& out) {
  end_all(kIncomplete, out);
  for (const task::ArtifactId& id : withdrawn.artifacts) forget(id.value);
}

void View::ask(const chat::Question& question, chat::Frames& out) {
  if (question.for_tool) return;
  std::string prompt = chat::prompt_of(question);
  if (!question.url.empty()) prompt += "\n" + question.url;
  std::vector<Part> parts{Part::of_text(std::move(prompt))};
  if (const auto details = json::Document::parse_view(question.details.text)) {
    for (const json::Value detail : details->root()) parts.push_back(Part::of_data(detail.json()));
  }
  say(parts, out);
}

void View::say(const std::vector<Part>& parts, chat::Frames& out) {
  if (parts.empty()) return;
  Message& message = begin_message({}, own_id(), out);
  for (const Part& part : parts) add_part(message, part, out);
  end({}, kCompleted, out);
}

View::Message& View::message_for(const std::string& source, const std::string& wish, bool anew,
                                 chat::Frames& out) {
  if (anew) {
    end(source, kIncomplete, out);
    forget(source);
  }
  for (Message& message : open_) {
    if (message.source == source) return message;
  }
  return begin_message(source, wish, out);
}

View::Message& View::begin_message(std::string source, std::string id, chat::Frames& out) {
  go_to_work(out);
  open_.push_back({std::move(source), new_id("msg_" + std::move(id)), {}});
  json::Writer writer(out.add("message"));
  writer.object([&] {
    head(writer, "message", "in_progress").member("id", open_.back().id);
    writer.member("type", "message").member("role", "assistant");
  });
  return open_.back();
}

void View::add_text(Message& message, std::string_view text, chat::Frames& out) {
  if (message.contents.empty() || !message.contents.back().is_text) message.contents.push_back({});
  if (text.empty()) return;
  message.contents.back().text += text;
  json::Writer writer(out.add("text"));
  writer.object([&] {
    head(writer, "content", "in_progress").member("type", "text");
    writer.member("index", static_cast<std::int64_t>(message.contents.size()) - 1).member("delta", true);
    writer.member("msg_id", message.id).member("text", text);
  });
}

void View::add_part(Message& message, const Part& part, chat::Frames& out) {
  if (!agent_api::is_plain_text(part)) return message.contents.push_back({false, content_of(part)});
  message.contents.push_back({});
  add_text(message, part.content, out);
}

void View::end(const std::string& source, std::string_view status, chat::Frames& out) {
  const auto message =
      std::find_if(open_.begin(), open_.end(), [&](const Message& open) { return open.source == source; });
  if (message == open_.end()) return;
  std::string& data = out.add("message");
  json::Writer writer(data);
  writer.object([&] {
    head(writer, "message", status).member("id", message->id);
    writer.member("type", "message").member("role", "assistant").key("content").array([&] {
      for (const Content& content : message->contents) {
        writer.raw(content.is_text ? content_of(Part::of_text(content.text)) : content.text);
      }
    });
  });
  if (status == kCompleted) completed_.push_back({message->source, data});
  open_.erase(message);
}

void View::end_all(std::string_view status, chat::Frames& out) {
  while (!open_.empty()) end(std::string(open_.front().source), status, out);
}

void View::forget(const std::string& source) {
  std::erase_if(completed_, [&](const Completed& object) { return object.source == source; });
}

void View::add_tool_use(std::string_view kind, std::string_view data, chat::Frames& out) {
  go_to_work(out);
  std::string& frame = out.add(kind);
  json::Writer writer(frame);
  writer.object([&] {
    head(writer, kind, kCompleted);
    writer.member("id", new_id("msg_" + own_id()));
    writer.member("type", kind).member("role", "assistant");
    writer.key("content").array([&] {
      writer.object([&] {
        writer.member("object", "content").member("type", "data").member("delta", false);
        writer.key("data").raw(data);
      });
    });
  });
  completed_.push_back({{}, frame});
}

void View::begin(const task::Event& event, chat::Frames& out) {
  response_id_ = "response_" + facts_.task.value;
  if (event.number.value > 1) response_id_ += "-" + std::to_string(event.number.value);
  created_at_ = base::to_ms(event.at) / 1000;
  respond("created", out);
}

void View::go_to_work(chat::Frames& out) {
  if (!works_) respond("in_progress", out);
  works_ = true;
}

void View::respond(std::string_view status, chat::Frames& out, const Failure* failure) {
  json::Writer writer(out.add(response_event_));
  writer.object([&] {
    head(writer, "response", status).member("id", response_id_).member("created_at", created_at_);
    if (failure) {
      writer.key("error").object(
          [&] { writer.member("code", failure->code).member("message", failure->message); });
    }
    if (!over_) return;
    writer.key("output").array([&] {
      for (const Completed& object : completed_) writer.raw(object.json);
    });
  });
}

std::string View::own_id() const {
  return facts_.task.value + "-" + std::to_string(now_.value);
}

std::string View::new_id(std::string wish) {
  while (std::find(ids_.begin(), ids_.end(), wish) != ids_.end()) wish += "-" + std::to_string(now_.value);
  ids_.push_back(wish);
  return wish;
}

json::Writer& View::head(json::Writer& out, std::string_view object, std::string_view status) {
  return out.member("sequence_number", sequence_++).member("object", object).member("status", status);
}

}  // namespace baton::protocol::agent_server
