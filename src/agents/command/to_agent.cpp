#include "agents/command/to_agent.h"

#include <algorithm>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::agents::line {
namespace {

// JSON that is passed on byte for byte may span several lines. Between its tokens a space means the same, and
// inside strings there can be no line end.
std::string as_line(std::string json) {
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  json += '\n';
  return json;
}

void write_task(json::Writer& out, const Turn& turn) {
  out.object([&] {
    out.member("id", turn.task.value);
    out.member("contextId", turn.context.value);
    out.member("state", protocol::v1::state_name(turn.state));
    out.optional("metadata", turn.task_metadata);
  });
}

void write_history(json::Writer& out, const std::vector<task::Message>& history) {
  out.key("history").array([&] {
    for (const task::Message& message : history) protocol::v1::write_message(out, message);
  });
}

void write_artifacts(json::Writer& out, const std::vector<task::Artifact>& artifacts) {
  out.key("artifacts").array([&] {
    for (const task::Artifact& artifact : artifacts) protocol::v1::write_artifact(out, artifact);
  });
}

void write_references(json::Writer& out, const std::vector<task::Task>& references) {
  if (references.empty()) return;
  out.key("references").array([&] {
    for (const task::Task& task : references) {
      out.object([&] {
        out.member("id", task.id.value).member("contextId", task.context.value);
        out.member("state", protocol::v1::state_name(task.status.state));
        write_history(out, task.history);
        write_artifacts(out, task.artifacts);
      });
    }
  });
}

void write_extensions(json::Writer& out, const std::vector<std::string>& extensions) {
  if (extensions.empty()) return;
  out.key("extensions").array([&] {
    for (const std::string& extension : extensions) out.string(extension);
  });
}

void write_result(json::Writer& out, const DelegateResult& result) {
  out.member("id", result.id);
  if (result.task) protocol::v1::write_task(out.key("task"), *result.task);
  out.optional("error", result.error);
}

void write_resume(json::Writer& out, const Turn& turn, std::string_view resume_ask) {
  if (resume_ask.empty() && turn.results.empty()) return;
  out.key("resume").object([&] {
    out.optional("ask", resume_ask);
    if (turn.results.empty()) return;
    out.key("results").array([&] {
      for (const DelegateResult& result : turn.results) out.object([&] { write_result(out, result); });
    });
  });
}

void write_turn(json::Writer& out, const Turn& turn, std::string_view resume_ask) {
  out.member("type", "turn").member("protocol", kProtocol).member("turn", turn.id);
  out.member("attempt", turn.attempt).member("agent", turn.agent.value);
  write_task(out.key("task"), turn);
  protocol::v1::write_message(out.key("message"), turn.message, turn.task, turn.context);
  if (turn.request) protocol::v1::write_message(out.key("request"), *turn.request, turn.task, turn.context);
  write_history(out, turn.history);
  write_artifacts(out, turn.artifacts);
  write_references(out, turn.references);
  out.optional("tools", turn.tools);
  out.optional("state", turn.client_state);
  out.optional("metadata", turn.metadata);
  write_extensions(out, turn.extensions);
  write_resume(out, turn, resume_ask);
  out.optional("traceparent", turn.trace);
}

}  // namespace

std::string encode_turn(const Turn& turn, std::string_view resume_ask) {
  std::string text;
  json::Writer out(text);
  out.object([&] { write_turn(out, turn, resume_ask); });
  return as_line(std::move(text));
}

std::string encode_cancel(std::string_view turn) {
  std::string text;
  json::Writer out(text);
  out.object([&] { out.member("type", "cancel").member("turn", turn); });
  return as_line(std::move(text));
}

std::string encode_tool_result(std::string_view turn, const task::ToolResult& result) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("type", "tool-result").member("turn", turn).member("id", result.id);
    out.optional("content", result.content).optional("error", result.error);
  });
  return as_line(std::move(text));
}

std::string encode_delegate_result(std::string_view turn, const DelegateResult& result) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("type", "delegate-result").member("turn", turn);
    write_result(out, result);
  });
  return as_line(std::move(text));
}

}  // namespace baton::agents::line
