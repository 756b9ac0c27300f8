#include "protocol/a2a/v0_3_rest_objects.h"

#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a::rest_v0_3 {
namespace {

using base::Result;
using task::Part;

// The names of 1.0, except that CANCELLED has two Ls here.
std::string_view state_name(task::State state) {
  return state == task::State::canceled ? "TASK_STATE_CANCELLED" : v1::state_name(state);
}

// As protobuf prints it: no fraction if it is zero.
std::string timestamp(base::Timestamp at) {
  constexpr std::string_view kWhole = ".000Z";
  std::string text = base::to_rfc3339(at);
  if (text.ends_with(kWhole)) text.replace(text.size() - kWhole.size(), kWhole.size(), "Z");
  return text;
}

void write_part(json::Writer& out, const Part& part) {
  out.object([&] {
    if (part.kind == Part::Kind::text) {
      out.member("text", part.content);
    } else if (part.kind == Part::Kind::data) {
      out.key("data").object([&] { write_data(out.key("data"), part); });
    } else {
      out.key("file").object([&] {
        out.member(part.kind == Part::Kind::raw ? "fileWithBytes" : "fileWithUri", part.content);
        out.optional("mimeType", part.media_type).optional("name", part.filename);
      });
    }
    out.optional("metadata", metadata_before_v1(part, true));
  });
}

void write_parts(json::Writer& out, const std::vector<Part>& parts) {
  out.each(parts, [&](const Part& part) { write_part(out, part); });
}

}  // namespace

void write_message(json::Writer& out, const task::Message& message, const TaskNames& names) {
  out.object([&] {
    out.optional("messageId", message.id.value);
    out.optional("contextId", names.context.value).optional("taskId", names.task.value);
    out.member("role", message.role == task::Role::user ? "ROLE_USER" : "ROLE_AGENT");
    if (!message.parts.empty()) write_parts(out.key("content"), message.parts);
    out.optional("metadata", message.metadata);
    out.optional("extensions", message.extensions);
  });
}

void write_artifact(json::Writer& out, const task::Artifact& artifact) {
  out.object([&] {
    out.optional("artifactId", artifact.id.value).optional("name", artifact.name);
    out.optional("description", artifact.description);
    if (!artifact.parts.empty()) write_parts(out.key("parts"), artifact.parts);
    out.optional("metadata", artifact.metadata);
    out.optional("extensions", artifact.extensions);
  });
}

void write_status(json::Writer& out, const task::Status& status, const TaskNames& names) {
  out.object([&] {
    out.member("state", state_name(status.state));
    if (status.message) write_message(out.key("message"), v1::status_message(status), names);
    out.member("timestamp", timestamp(status.at));
  });
}

namespace {

// The data of a part without a tag is nested twice; the data of JSON-RPC, which has a tag, is not. Some
// clients forget the tag, so an object with members other than `data` is read as the data itself.
json::Value data_in(json::Value part) {
  const json::Value data = part["data"];
  const bool is_tagged = !first_of(part, {"kind", "type"}).absent();
  const json::Value inner = data["data"];
  return !is_tagged && data.size() == 1 && inner.is_object() ? inner : data;
}

Result<Part> read_part(json::Value part) {
  if (!part.is_object()) return wrong("must be an object");
  const json::Value text = part["text"], file = part["file"], data = part["data"];
  const int given = (text.absent() ? 0 : 1) + (file.absent() ? 0 : 1) + (data.absent() ? 0 : 1);
  if (given != 1) return wrong("text: exactly one of text, file and data is required");
  if (!text.absent() && !text.is_string()) return wrong("text: must be a string");
  task::Json metadata;
  Fields in(part);
  in.object({"metadata"}, metadata);
  if (!in.good()) return in.result(Part());
  auto read = !text.absent()   ? Result<Part>(Part::of_text(text.str()))
              : !file.absent() ? read_file(file, {"mimeType", "mime_type"},
                                           {"fileWithBytes", "file_with_bytes", "bytes", "data"},
                                           {"fileWithUri", "file_with_uri", "uri"})
                               : read_data(data_in(part), part["metadata"], metadata);
  if (read) read->metadata = std::move(metadata);
  return read;
}

Result<task::Role> read_role(json::Value role) {
  if (role.string() == "ROLE_USER" || role.string() == "user") return task::Role::user;
  if (role.string() == "ROLE_AGENT" || role.string() == "agent") return task::Role::agent;
  if (role.integer() == 1) return task::Role::user;
  if (role.integer() == 2) return task::Role::agent;
  return wrong("message.role: must be ROLE_USER or ROLE_AGENT");
}

}  // namespace

void write_task(json::Writer& out, const task::Task& task) {
  const TaskNames names{task.id, task.context};
  out.object([&] {
    out.member("id", task.id.value).optional("contextId", task.context.value);
    write_status(out.key("status"), task.status, names);
    if (!task.artifacts.empty()) {
      out.key("artifacts").each(task.artifacts, [&](const task::Artifact& artifact) {
        write_artifact(out, artifact);
      });
    }
    if (!task.history.empty()) {
      out.key("history").each(task.history,
                              [&](const task::Message& message) { write_message(out, message, names); });
    }
    out.optional("metadata", with_usage(task.metadata, task.status));
  });
}

void write_push(json::Writer& out, const task::TaskId& task, const task::PushConfig& config) {
  const std::string& id = config.id.empty() ? task.value : config.id.value;
  out.object([&] {
    out.member("name", "tasks/" + task.value + "/pushNotificationConfigs/" + id);
    out.key("pushNotificationConfig").object([&] {
      out.member("id", id).member("url", config.url).optional("token", config.token);
      out.optional("lastError", config.last_error);
      if (config.schemes.empty() && config.credentials.empty()) return;
      out.key("authentication").object([&] {
        out.optional("schemes", config.schemes);
        out.optional("credentials", config.credentials);
      });
    });
  });
}

Result<void> read_message(json::Value message, task::Submission& submission) {
  if (!message.is_object()) return wrong("message: must be an object");
  task::Message& read = submission.message;
  Fields in(message, "message.");
  in.needed_id({"messageId", "message_id"}, read.id.value);
  in.take(read_role(message["role"]), read.role);
  in.id({"taskId", "task_id"}, submission.task.value);
  in.id({"contextId", "context_id"}, submission.context.value);
  in.take(read_parts(first_of(message, {"content", "parts"}), "message.content", read_part), read.parts);
  in.object({"metadata"}, read.metadata);
  in.strings({"extensions"}, read.extensions);
  in.task_ids({"referenceTaskIds"}, read.reference_tasks);
  return in.result();
}

std::optional<PushRef> parse_name(std::string_view name) {
  constexpr std::string_view kTasks = "tasks/";
  constexpr std::string_view kConfigs = "/pushNotificationConfigs/";
  constexpr std::string_view kAll = kConfigs.substr(0, kConfigs.size() - 1);
  if (!name.starts_with(kTasks)) return std::nullopt;
  name.remove_prefix(kTasks.size());
  const std::size_t end = std::min(name.rfind(kConfigs), name.size());
  if (end == name.size() && name.ends_with(kAll)) name.remove_suffix(kAll.size());
  PushRef ref{{std::string(name.substr(0, end))}, {}};
  if (ref.task.empty()) return std::nullopt;
  if (end < name.size()) ref.config.value = name.substr(end + kConfigs.size());
  if (ref.task.value.size() > kIdMax || ref.config.value.size() > kIdMax) return std::nullopt;
  return ref;
}

}  // namespace baton::protocol::a2a::rest_v0_3
