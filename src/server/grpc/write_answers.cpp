#include "server/grpc/write_answers.h"

#include <google/protobuf/timestamp.pb.h>

#include <variant>

#include "base/base64.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_list.h"
#include "protocol/a2a/v1_objects.h"
#include "server/grpc/struct_json.h"

namespace baton::server::grpc {
namespace {

using protocol::a2a::TaskNames;
using task::Part;

void write_metadata(const Writing& out, const task::Json& metadata) {
  if (!metadata.empty()) read_struct(metadata.text, out.as<pb::Struct>("metadata"));
}

void write_time(pb::Timestamp& time, base::Timestamp at) {
  const std::int64_t ms = base::to_ms(at);
  const std::int64_t part = (ms % 1000 + 1000) % 1000;
  time.set_seconds((ms - part) / 1000);
  time.set_nanos(static_cast<std::int32_t>(part * 1'000'000));
}

// The objects of a version.
class Objects {
 public:
  Objects(task::ProtocolVersion version, bool files_are_text)
      : is_v1_(version == task::ProtocolVersion::v1_0), files_are_text_(files_are_text) {}

  bool is_v1() const { return is_v1_; }
  // In a SendMessageResponse or a StreamResponse: the task, or the message that takes its place.
  void write_sent(const Writing& out, const task::Task& task) const {
    if (!task.hidden) return write_task(out.child("task"), task);
    write_message(out.child(is_v1_ ? "message" : "msg"), *task.status.message, {{}, task.context});
  }

  void write_message(const Writing& out, const task::Message& message, const TaskNames& names) const {
    out.text("message_id", message.id.value);
    out.text("context_id", names.context.value);
    out.text("task_id", names.task.value);
    out.enum_number("role", message.role == task::Role::user ? 1 : 2);
    write_parts(out, is_v1_ ? "parts" : "content", message.parts);
    write_metadata(out, message.metadata);
    out.texts("extensions", message.extensions);
    if (!is_v1_) return;
    for (const task::TaskId& id : message.reference_tasks) out.add_text("reference_task_ids", id.value);
  }

  void write_artifact(const Writing& out, const task::Artifact& artifact) const {
    out.text("artifact_id", artifact.id.value);
    out.text("name", artifact.name);
    out.text("description", artifact.description);
    write_parts(out, "parts", artifact.parts);
    write_metadata(out, artifact.metadata);
    out.texts("extensions", artifact.extensions);
  }

  void write_status(const Writing& out, const task::Status& status, const TaskNames& names) const {
    out.enum_number("state", protocol::v1::number_of(status.state));
    if (status.message) {
      write_message(out.child(is_v1_ ? "message" : "update"), protocol::v1::status_message(status), names);
    }
    write_time(out.as<pb::Timestamp>("timestamp"), status.at);
  }

  void write_task(const Writing& out, const task::Task& task, bool artifacts = true) const {
    const TaskNames names{task.id, task.context};
    out.text("id", task.id.value);
    out.text("context_id", task.context.value);
    write_status(out.child("status"), task.status, names);
    if (artifacts) {
      for (const task::Artifact& artifact : task.artifacts) write_artifact(out.add("artifacts"), artifact);
    }
    for (const task::Message& message : task.history) write_message(out.add("history"), message, names);
    write_metadata(out, protocol::with_usage(task.metadata, task.status));
  }

  void write_config(const Writing& out, const task::TaskId& task, const task::PushConfig& config) const {
    if (is_v1_) {
      out.text("task_id", task.value);
      write_config_members(out, config.id.value, config);
      // 1.0 has room for one scheme: the first.
      if (config.schemes.empty()) return;
      out.child("authentication").text("scheme", config.schemes.front());
      return out.child("authentication").text("credentials", config.credentials);
    }
    const std::string& id = config.id.empty() ? task.value : config.id.value;
    out.text("name", "tasks/" + task.value + "/pushNotificationConfigs/" + id);
    const Writing inner = out.child("push_notification_config");
    write_config_members(inner, id, config);
    if (config.schemes.empty() && config.credentials.empty()) return;
    inner.child("authentication").texts("schemes", config.schemes);
    inner.child("authentication").text("credentials", config.credentials);
  }

 private:
  static void write_config_members(const Writing& out, const std::string& id,
                                   const task::PushConfig& config) {
    out.text("id", id);
    out.text("url", config.url);
    out.text("token", config.token);
  }

  void write_parts(const Writing& out, const char* field, const std::vector<Part>& parts) const {
    for (const Part& part : parts) {
      if (is_v1_) {
        write_v1_part(out.add(field), part);
      } else {
        write_v03_part(out.add(field), part);
      }
    }
  }

  static void write_v1_part(const Writing& out, const Part& part) {
    switch (part.kind) {
      case Part::Kind::text:
        out.text("text", part.content);
        break;
      case Part::Kind::raw:
        out.text("raw", base::decode_base64(part.content).value_or(""));
        break;
      case Part::Kind::url:
        out.text("url", part.content);
        break;
      case Part::Kind::data:
        read_value(part.content, out.as<pb::Value>("data"));
        break;
    }
    out.text("filename", part.filename);
    out.text("media_type", part.media_type);
    write_metadata(out, part.metadata);
  }

  void write_v03_part(const Writing& out, const Part& part) const {
    if (part.kind == Part::Kind::text) {
      out.text("text", part.content);
    } else if (part.kind == Part::Kind::data) {
      std::string json;
      json::Writer writer(json);
      protocol::a2a::write_data(writer, part);
      read_struct(json, out.child("data").as<pb::Struct>("data"));
    } else {
      const Writing file = out.child("file");
      if (part.kind == Part::Kind::raw) {
        file.text("file_with_bytes",
                  files_are_text_ ? part.content : base::decode_base64(part.content).value_or(""));
      } else {
        file.text("file_with_uri", part.content);
      }
      file.text("mime_type", part.media_type);
      file.text("name", part.filename);
    }
    write_metadata(out, protocol::a2a::metadata_before_v1(part, true));
  }

  const bool is_v1_;
  const bool files_are_text_;
};

struct AnswerWriter {
  const Objects objects;
  const Writing& out;

  void operator()(const server::a2a::SentAnswer& sent) const { objects.write_sent(out, sent.task); }
  void operator()(const server::a2a::TaskAnswer& answer) const { objects.write_task(out, answer.task); }
  void operator()(const server::a2a::ListAnswer& answer) const {
    for (const task::Task& task : answer.list.tasks) {
      objects.write_task(out.add("tasks"), task, answer.request.depth.artifacts);
    }
    if (answer.list.next) out.text("next_page_token", protocol::a2a::page_token(*answer.list.next));
    out.number("page_size", answer.request.filter.limit);
    out.number("total_size", static_cast<int>(answer.list.total));
  }
  void operator()(const server::a2a::PushAnswer& answer) const {
    objects.write_config(out, answer.task, answer.config);
  }
  void operator()(const server::a2a::PushesAnswer& answer) const {
    for (const task::PushConfig& config : answer.configs) {
      objects.write_config(out.add("configs"), answer.task, config);
    }
    out.text("next_page_token", answer.next);
  }
  void operator()(const server::a2a::PushDeleted&) const {}
  void operator()(const server::a2a::CardAnswer&) const {}
  void operator()(const server::a2a::ContentAnswer&) const {}
  void operator()(const server::a2a::ViewAnswer&) const {}
};

void write_update(const Writing& out, const TaskNames& names, const task::Json& metadata) {
  out.text("task_id", names.task.value);
  out.text("context_id", names.context.value);
  write_metadata(out, metadata);
}

}  // namespace

void write_answer(const protocol::grpc::Method& method, const Writing& out, const server::a2a::Answer& answer,
                  bool files_are_text) {
  std::visit(AnswerWriter{Objects(method.version, files_are_text), out}, answer);
}

void write_item(task::ProtocolVersion version, const Writing& out, const task::Task& task,
                bool files_are_text) {
  Objects(version, files_are_text).write_sent(out, task);
}

bool write_event(task::ProtocolVersion version, const Writing& out, const TaskNames& names,
                 const task::Event& event, const protocol::a2a::InStream& place, bool files_are_text) {
  const Objects objects(version, files_are_text);
  return protocol::a2a::show_event(
      names.task, event, place,
      [&](const task::Status& status, const task::Json& metadata, bool final) {
        const Writing update = out.child("status_update");
        write_update(update, names, metadata);
        objects.write_status(update.child("status"), status, names);
        if (!objects.is_v1()) update.truth("final", final);
      },
      [&](const task::ArtifactChunk& chunk, const task::Json& metadata) {
        const Writing update = out.child("artifact_update");
        write_update(update, names, metadata);
        objects.write_artifact(update.child("artifact"), chunk.artifact);
        update.truth("append", chunk.append);
        update.truth("last_chunk", chunk.last_chunk);
      });
}

}  // namespace baton::server::grpc
