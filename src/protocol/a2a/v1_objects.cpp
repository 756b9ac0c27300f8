#include "protocol/a2a/v1_objects.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "protocol/a2a/baton_extension.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::v1 {
namespace {

using a2a::Fields;
using a2a::wrong;
using base::Result;

constexpr std::array<std::string_view, 8> kStateNames{
    "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",  "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED",
    "TASK_STATE_COMPLETED", "TASK_STATE_CANCELED", "TASK_STATE_FAILED",         "TASK_STATE_REJECTED"};

// In the order of their numbers in a2a.proto, from 1.
using task::State;
constexpr std::array kStateNumbers{State::submitted, State::working,      State::completed,
                                   State::failed,    State::canceled,     State::input_required,
                                   State::rejected,  State::auth_required};

struct ContentName {
  std::string_view name;
  task::Part::Kind kind;
};
constexpr std::array kContentNames{
    ContentName{"text", task::Part::Kind::text},
    ContentName{"raw", task::Part::Kind::raw},
    ContentName{"url", task::Part::Kind::url},
    ContentName{"data", task::Part::Kind::data},
};

Result<task::Part> read_content(json::Value part) {
  task::Part read;
  int found = 0;
  for (const ContentName& candidate : kContentNames) {
    const json::Value content = part[candidate.name];
    // `data: null` is a value, unless something else is; null anywhere else means "not set".
    const bool may_be_null = candidate.kind == task::Part::Kind::data && found == 0;
    if (content.missing() || (content.is_null() && !may_be_null)) continue;
    ++found;
    read.kind = candidate.kind;
    if (candidate.kind == task::Part::Kind::data) {
      read.content = std::string(content.raw());
      continue;
    }
    if (!content.is_string()) return wrong(std::string(candidate.name) + ": must be a string");
    read.content = content.str();
  }
  if (found != 1) return wrong("exactly one of text, raw, url and data is required");
  if (read.kind == task::Part::Kind::raw) {
    auto normal = base::normalize_base64(read.content);
    if (!normal) return wrong("raw: is not base64");
    read.content = std::move(*normal);
  }
  return read;
}

}  // namespace

std::string_view state_name(task::State state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

std::optional<task::State> state_named(std::string_view name) {
  const auto* found = std::find(kStateNames.begin(), kStateNames.end(), name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<task::State>(found - kStateNames.begin());
}

std::optional<task::State> state_numbered(std::int64_t number) {
  if (number < 1 || number > static_cast<std::int64_t>(kStateNumbers.size())) return std::nullopt;
  return kStateNumbers[static_cast<std::size_t>(number - 1)];
}

int number_of(task::State state) {
  const auto* found = std::find(kStateNumbers.begin(), kStateNumbers.end(), state);
  return static_cast<int>(found - kStateNumbers.begin()) + 1;
}

void write_part(json::Writer& out, const task::Part& part) {
  out.object([&] {
    const std::string_view name = kContentNames[static_cast<std::size_t>(part.kind)].name;
    if (part.kind == task::Part::Kind::data) {
      out.key(name).raw(part.content);
    } else {
      out.member(name, part.content);
    }
    out.optional("filename", part.filename);
    out.optional("mediaType", part.media_type);
    out.optional("metadata", part.metadata);
  });
}

void write_parts(json::Writer& out, const std::vector<task::Part>& parts) {
  out.each(parts, [&](const task::Part& part) { write_part(out, part); });
}

void write_message(json::Writer& out, const task::Message& message, const task::TaskId& task,
                   const task::ContextId& context) {
  out.object([&] {
    out.member("messageId", message.id.value);
    out.optional("contextId", context.value);
    out.optional("taskId", task.value);
    out.member("role", message.role == task::Role::user ? "ROLE_USER" : "ROLE_AGENT");
    out.key("parts");
    write_parts(out, message.parts);
    out.optional("metadata", message.metadata);
    out.optional("extensions", message.extensions);
    if (message.reference_tasks.empty()) return;
    out.key("referenceTaskIds").each(message.reference_tasks, [&](const task::TaskId& id) {
      out.string(id.value);
    });
  });
}

void write_artifact(json::Writer& out, const task::Artifact& artifact) {
  out.object([&] {
    out.member("artifactId", artifact.id.value);
    out.optional("name", artifact.name);
    out.optional("description", artifact.description);
    out.key("parts");
    write_parts(out, artifact.parts);
    out.optional("metadata", artifact.metadata);
    out.optional("extensions", artifact.extensions);
  });
}

task::Message status_message(const task::Status& status) {
  task::Message message = status.message.value_or(task::Message{});
  if (status.asked_by.empty()) return message;
  const auto document = json::Document::view_of(message.metadata.text);
  task::Json marked;
  json::Writer out(marked.text);
  out.object([&] {
    for (const json::Value member : document.root()) {
      if (member.key() != kBatonExtension) out.key(member.key()).raw(member.raw());
    }
    out.key(kBatonExtension).object([&] {
      out.member("ask", status.asked_by.front().ask);
      out.key("askedBy").each(status.asked_by, [&](const task::Asker& asker) {
        out.object([&] { out.member("agent", asker.agent.value).member("task", asker.task.value); });
      });
    });
  });
  message.metadata = std::move(marked);
  return message;
}

void write_status(json::Writer& out, const task::Status& status, const task::TaskId& task,
                  const task::ContextId& context) {
  out.object([&] {
    out.member("state", state_name(status.state));
    if (status.message) {
      out.key("message");
      write_message(out, status_message(status), task, context);
    }
    out.member("timestamp", base::to_rfc3339(status.at));
  });
}

void write_task(json::Writer& out, const task::Task& task, Artifacts artifacts) {
  out.object([&] {
    out.member("id", task.id.value);
    out.optional("contextId", task.context.value);
    out.key("status");
    write_status(out, task.status, task.id, task.context);
    const bool some = artifacts == Artifacts::where_any && !task.artifacts.empty();
    if (some || artifacts == Artifacts::always) {
      out.key("artifacts").each(task.artifacts, [&](const task::Artifact& artifact) {
        write_artifact(out, artifact);
      });
    }
    if (!task.history.empty()) {
      out.key("history").each(task.history, [&](const task::Message& message) {
        write_message(out, message, task.id, task.context);
      });
    }
    out.optional("metadata", with_usage(task.metadata, task.status));
  });
}

Result<task::Part> read_part(json::Value part) {
  if (!part.is_object()) return wrong("must be an object");
  auto read = read_content(part);
  if (!read) return read;
  Fields in(part);
  in.string({"filename"}, read->filename);
  in.string({"mediaType", "media_type"}, read->media_type);
  in.object({"metadata"}, read->metadata);
  return in.result(std::move(*read));
}

Result<std::vector<task::Part>> read_parts(json::Value parts) {
  if (!parts.is_array()) return wrong("parts: must be a list");
  std::vector<task::Part> read;
  read.reserve(parts.size());
  for (const json::Value part : parts) {
    auto one = read_part(part);
    if (!one) return wrong("parts[" + std::to_string(read.size()) + "]: " + one.error().for_caller);
    read.push_back(std::move(*one));
  }
  return read;
}

Result<task::Message> read_message(json::Value message, task::TaskId* task, task::ContextId* context) {
  if (!message.is_object()) return wrong("message: must be an object");
  task::Message read;
  const json::Value role = message["role"];
  if (role.string() == "ROLE_USER" || role.integer() == 1) {
    read.role = task::Role::user;
  } else if (role.string() == "ROLE_AGENT" || role.integer() == 2) {
    read.role = task::Role::agent;
  } else if (!role.absent()) {
    return wrong("message.role: must be ROLE_USER or ROLE_AGENT");
  }
  auto parts = read_parts(message["parts"]);
  if (!parts) return base::fail(std::move(parts.error()));
  if (parts->empty()) return wrong("parts: must have at least one part");
  read.parts = std::move(*parts);
  std::string own_task, own_context;
  Fields in(message);
  in.string({"messageId", "message_id"}, read.id.value);
  in.object({"metadata"}, read.metadata);
  in.strings({"extensions"}, read.extensions);
  in.task_ids({"referenceTaskIds", "reference_task_ids"}, read.reference_tasks);
  in.string({"taskId", "task_id"}, task ? task->value : own_task);
  in.string({"contextId", "context_id"}, context ? context->value : own_context);
  return in.result(std::move(read));
}

Result<task::Artifact> read_artifact(json::Value artifact) {
  if (!artifact.is_object()) return wrong("artifact: must be an object");
  task::Artifact read;
  Fields in(artifact);
  in.string({"artifactId", "artifact_id"}, read.id.value);
  in.string({"name"}, read.name);
  in.string({"description"}, read.description);
  in.take(read_parts(artifact["parts"]), read.parts);
  in.object({"metadata"}, read.metadata);
  in.strings({"extensions"}, read.extensions);
  return in.result(std::move(read));
}

}  // namespace baton::protocol::v1
