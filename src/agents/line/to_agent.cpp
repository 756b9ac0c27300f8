#include "agents/line/to_agent.h"

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

void write_task_facts(json::Writer& out, const TurnFacts& facts) {
  out.object([&] {
    out.member("id", facts.task.value);
    out.member("contextId", facts.context.value);
    out.member("state", protocol::v1::state_name(facts.state));
    out.optional("metadata", facts.task_metadata);
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

void write_outcome(json::Writer& out, const DelegateOutcome& outcome) {
  out.member("id", outcome.id);
  if (outcome.task != nullptr) protocol::v1::write_task(out.key("task"), *outcome.task);
  out.optional("error", outcome.error);
}

void write_resume(json::Writer& out, const TurnFacts& facts) {
  if (facts.resume_ask.empty() && facts.results.empty()) return;
  out.key("resume").object([&] {
    out.optional("ask", facts.resume_ask);
    if (facts.results.empty()) return;
    out.key("results").array([&] {
      for (const DelegateOutcome& outcome : facts.results) out.object([&] { write_outcome(out, outcome); });
    });
  });
}

void write_turn(json::Writer& out, const TurnFacts& facts) {
  out.member("type", "turn").member("protocol", kProtocol).member("turn", facts.turn);
  out.member("attempt", facts.attempt).member("agent", facts.agent.value);
  write_task_facts(out.key("task"), facts);
  protocol::v1::write_message(out.key("message"), facts.message, facts.task, facts.context);
  write_history(out, facts.history);
  write_artifacts(out, facts.artifacts);
  write_references(out, facts.references);
  out.optional("tools", facts.tools);
  out.optional("state", facts.client_state);
  out.optional("metadata", facts.metadata);
  write_extensions(out, facts.extensions);
  write_resume(out, facts);
  out.optional("trace", facts.trace);
}

}  // namespace

std::string encode_turn(const TurnFacts& facts) {
  std::string text;
  json::Writer out(text);
  out.object([&] { write_turn(out, facts); });
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

std::string encode_delegate_result(std::string_view turn, const DelegateOutcome& outcome) {
  std::string text;
  json::Writer out(text);
  out.object([&] {
    out.member("type", "delegate-result").member("turn", turn);
    write_outcome(out, outcome);
  });
  return as_line(std::move(text));
}

}  // namespace baton::agents::line
