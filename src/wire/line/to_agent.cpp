#include "wire/line/to_agent.h"

#include <algorithm>

#include "wire/a2a/v1_objects.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::line {
namespace {

// JSON that is passed on byte for byte may span several lines. Between its tokens a space means the same, and
// inside strings there can be no line end.
std::string as_line(std::string json) {
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  json += '\n';
  return json;
}

void write_task_facts(Writer& out, const TurnFacts& facts) {
  out.object([&] {
    out.member("id", facts.task.value);
    out.member("contextId", facts.context.value);
    out.member("state", v1::state_name(facts.state));
    out.optional("metadata", facts.task_metadata);
  });
}

void write_history(Writer& out, const std::vector<task::Message>& history) {
  out.key("history").array([&] {
    for (const task::Message& message : history) v1::write_message(out, message);
  });
}

void write_artifacts(Writer& out, const std::vector<task::Artifact>& artifacts) {
  out.key("artifacts").array([&] {
    for (const task::Artifact& artifact : artifacts) v1::write_artifact(out, artifact);
  });
}

void write_references(Writer& out, const std::vector<task::Task>& references) {
  if (references.empty()) return;
  out.key("references").array([&] {
    for (const task::Task& task : references) {
      out.object([&] {
        out.member("id", task.id.value).member("contextId", task.context.value);
        out.member("state", v1::state_name(task.status.state));
        write_history(out, task.history);
        write_artifacts(out, task.artifacts);
      });
    }
  });
}

void write_extensions(Writer& out, const std::vector<std::string>& extensions) {
  if (extensions.empty()) return;
  out.key("extensions").array([&] {
    for (const std::string& extension : extensions) out.string(extension);
  });
}

void write_turn(Writer& out, const TurnFacts& facts) {
  out.member("type", "turn").member("protocol", kProtocol).member("turn", facts.turn);
  out.member("attempt", facts.attempt).member("agent", facts.agent.value);
  write_task_facts(out.key("task"), facts);
  v1::write_message(out.key("message"), facts.message, facts.task, facts.context);
  write_history(out, facts.history);
  write_artifacts(out, facts.artifacts);
  write_references(out, facts.references);
  out.optional("tools", facts.tools);
  out.optional("state", facts.client_state);
  out.optional("metadata", facts.metadata);
  write_extensions(out, facts.extensions);
  if (!facts.resume_ask.empty()) {
    out.key("resume").object([&] { out.member("ask", facts.resume_ask); });
  }
  out.optional("trace", facts.trace);
}

}  // namespace

std::string encode_turn(const TurnFacts& facts) {
  std::string text;
  Writer out(text);
  out.object([&] { write_turn(out, facts); });
  return as_line(std::move(text));
}

std::string encode_cancel(std::string_view turn) {
  std::string text;
  Writer out(text);
  out.object([&] { out.member("type", "cancel").member("turn", turn); });
  return as_line(std::move(text));
}

std::string encode_tool_result(std::string_view turn, const task::ToolResult& result) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("type", "tool-result").member("turn", turn).member("id", result.id);
    out.optional("content", result.content).optional("error", result.error);
  });
  return as_line(std::move(text));
}

std::string encode_delegate_result(std::string_view turn, std::string_view id, const task::Task* task,
                                   std::string_view error) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("type", "delegate-result").member("turn", turn).member("id", id);
    if (task != nullptr) v1::write_task(out.key("task"), *task);
    out.optional("error", error);
  });
  return as_line(std::move(text));
}

std::vector<task::ToolResult> tool_results_in(const task::Message& message) {
  std::vector<task::ToolResult> results;
  for (const task::Part& part : message.parts) {
    if (part.kind != task::Part::Kind::data) continue;
    const auto document = Document::parse_view(part.content);
    if (!document) continue;
    const Value result = document->root()["toolResult"];
    if (!result.is_object() || !result["id"].is_string()) continue;
    task::ToolResult read{result["id"].str(), {}, result["error"].str()};
    if (!result["content"].missing()) read.content = result["content"].json();
    results.push_back(std::move(read));
  }
  return results;
}

}  // namespace baton::wire::line
