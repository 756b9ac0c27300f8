#include "protocol/a2a/tagged_objects.h"

#include "json/writer.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using task::Part;
using task::State;

bool is_in_v0_1(State state) {
  return state != State::rejected && state != State::auth_required;
}

std::string_view name_in_v0_1(State state) {
  if (state == State::rejected) return task::name_of(State::failed);
  if (state == State::auth_required) return task::name_of(State::input_required);
  return task::name_of(state);
}

// Returns the message of a status whose state is renamed: the agent's own message, or else the state's name.
task::Message message_with_state(const task::Status& status, const task::TaskId& task) {
  const std::string name(task::name_of(status.state));
  task::Message message = v1::status_message(status);
  message.role = task::Role::agent;
  if (message.id.empty()) message.id.value = task.value + "-" + name;
  if (message.parts.empty()) message.parts.push_back(Part::of_text(name));
  message.metadata = with_member(message.metadata, "state", json::string_of(name));
  return message;
}

}  // namespace

void TaggedObjects::write_kind(std::string_view kind) {
  if (has_v0_3()) out_.member("kind", kind);
}

void TaggedObjects::write_context() {
  if (has_v0_1()) out_.optional("sessionId", context_.value);
  if (has_v0_3()) out_.member("contextId", context_.value);
}

void TaggedObjects::write_event_names(std::string_view kind) {
  write_kind(kind);
  if (has_v0_1()) out_.member("id", task_.value);
  if (has_v0_3()) out_.member("taskId", task_.value).member("contextId", context_.value);
}

void TaggedObjects::write_part(const Part& part) {
  const bool is_file = part.kind == Part::Kind::raw || part.kind == Part::Kind::url;
  const std::string_view tag = is_file ? "file" : part.kind == Part::Kind::text ? "text" : "data";
  out_.object([&] {
    if (has_v0_1()) out_.member("type", tag);
    write_kind(tag);
    if (is_file) {
      out_.key("file").object([&] {
        out_.optional("name", part.filename).optional("mimeType", part.media_type);
        out_.member(part.kind == Part::Kind::raw ? "bytes" : "uri", part.content);
      });
    } else if (part.kind == Part::Kind::text) {
      out_.member("text", part.content);
    } else {
      write_data(out_.key("data"), part);
    }
    out_.optional("metadata", metadata_before_v1(part, has_v0_3()));
  });
}

void TaggedObjects::write_parts(const std::vector<Part>& parts) {
  out_.key("parts").each(parts, [&](const Part& part) { write_part(part); });
}

void TaggedObjects::write_message(const task::Message& message) {
  out_.object([&] {
    write_kind("message");
    if (has_v0_3()) out_.member("messageId", message.id.value);
    out_.member("role", message.role == task::Role::user ? "user" : "agent");
    if (has_v0_3()) out_.optional("taskId", task_.value).optional("contextId", context_.value);
    write_parts(message.parts);
    out_.optional("metadata", message.metadata);
    if (!has_v0_3()) return;
    out_.optional("extensions", message.extensions);
    if (message.reference_tasks.empty()) return;
    out_.key("referenceTaskIds").each(message.reference_tasks, [&](const task::TaskId& id) {
      out_.string(id.value);
    });
  });
}

void TaggedObjects::write_status(const task::Status& status) {
  const bool renamed = renames_states() && !is_in_v0_1(status.state);
  out_.object([&] {
    out_.member("state", renamed ? name_in_v0_1(status.state) : task::name_of(status.state));
    if (renamed) {
      out_.key("message");
      write_message(message_with_state(status, task_));
    } else if (status.message) {
      out_.key("message");
      write_message(v1::status_message(status));
    }
    out_.member("timestamp", base::to_rfc3339(status.at));
  });
}

void TaggedObjects::write_artifact(const task::Artifact& artifact, const task::ArtifactChunk* chunk) {
  out_.object([&] {
    if (has_v0_3()) out_.member("artifactId", artifact.id.value);
    out_.optional("name", artifact.name).optional("description", artifact.description);
    write_parts(artifact.parts);
    if (has_v0_1()) {
      out_.member("index", artifact.ordinal);
      if (chunk) out_.member("append", chunk->append).member("lastChunk", chunk->last_chunk);
    }
    out_.optional("metadata", artifact.metadata);
    if (has_v0_3()) out_.optional("extensions", artifact.extensions);
  });
}

void TaggedObjects::write_task(const task::Task& task, std::optional<bool> final) {
  out_.object([&] {
    write_kind("task");
    out_.member("id", task_.value);
    write_context();
    out_.key("status");
    write_status(task.status);
    if (!task.artifacts.empty()) {
      out_.key("artifacts").each(task.artifacts, [&](const task::Artifact& artifact) {
        write_artifact(artifact, nullptr);
      });
    }
    if (!task.history.empty()) {
      out_.key("history").each(task.history, [&](const task::Message& message) { write_message(message); });
    }
    out_.optional("metadata", with_usage(task.metadata, task.status));
    if (final) out_.member("final", *final);
  });
}

void TaggedObjects::write_status_event(const task::Status& status, const task::Json& metadata, bool final) {
  out_.object([&] {
    write_event_names("status-update");
    out_.key("status");
    write_status(status);
    out_.member("final", final).optional("metadata", metadata);
  });
}

void TaggedObjects::write_artifact_event(const task::ArtifactChunk& chunk, const task::Json& metadata) {
  out_.object([&] {
    write_event_names("artifact-update");
    out_.key("artifact");
    write_artifact(chunk.artifact, &chunk);
    if (has_v0_3()) out_.member("append", chunk.append).member("lastChunk", chunk.last_chunk);
    out_.optional("metadata", metadata);
  });
}

void TaggedObjects::write_push(const task::PushConfig& config) {
  // Members other than the two known ones are returned unchanged to 0.1; later schemas have no others.
  const auto extra =
      json::Document::view_of(has_v0_1() ? std::string_view(config.authentication_extra.text) : "");
  const bool authenticates =
      !config.schemes.empty() || !config.credentials.empty() || !extra.root().missing();
  out_.object([&] {
    if (has_v0_1()) out_.member("id", task_.value);
    if (has_v0_3()) out_.member("taskId", task_.value);
    out_.key("pushNotificationConfig").object([&] {
      if (has_v0_3()) out_.member("id", config.id.empty() ? task_.value : config.id.value);
      out_.member("url", config.url).optional("token", config.token).optional("lastError", config.last_error);
      if (!authenticates) return;
      out_.key("authentication").object([&] {
        out_.key("schemes").strings(config.schemes);
        out_.optional("credentials", config.credentials);
        for (const json::Value member : extra.root()) {
          if (member.key() != "schemes" && member.key() != "credentials")
            out_.key(member.key()).raw(member.raw());
        }
      });
    });
  });
}

}  // namespace baton::protocol::a2a
