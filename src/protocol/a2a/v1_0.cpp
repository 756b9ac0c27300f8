// A2A 1.0: the ProtoJSON of lf.a2a.v1 (README.md, 6), the same in JSON-RPC and REST. In REST, query values
// arrive as text.
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_list.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

Result<void> check_params(const Params& params) {
  if (!params.json().absent() && !params.json().is_object()) return wrong("params: must be an object");
  return {};
}

Result<std::string> read_task_name(const Params& params, std::string_view camel, std::string_view snake) {
  if (params.repeats(camel)) return wrong(std::string(camel) + ": given more than once");
  return read_id(params.first_of({camel, snake}), std::string(camel));
}

Result<std::string> read_required_id(const Params& params, std::string_view camel, std::string_view snake) {
  auto id = read_task_name(params, camel, snake);
  if (id && id->empty()) return wrong(std::string(camel) + ": must not be empty");
  return id;
}

// Errors name members by a path that begins with the message.
base::Error within_message(base::Error error) {
  if (!error.for_caller.starts_with("message")) error.for_caller.insert(0, "message.");
  return error;
}

Result<void> read_message(json::Value message, task::Submission& submission) {
  if (message.absent()) return wrong("message: must not be missing");
  task::Message& read = submission.message;
  auto bad = take(v1::read_message(message, &submission.task, &submission.context), read);
  if (bad) return fail(within_message(std::move(*bad)));
  if (read.id.empty()) return wrong("message.messageId: must not be empty");
  if (message["role"].absent()) return wrong("message.role: must be ROLE_USER or ROLE_AGENT");
  // Reads the ids again to check their length.
  if ((bad = take(read_id(first_of(message, {"messageId", "message_id"}), "message.messageId"),
                  read.id.value)) ||
      (bad = take(read_id(first_of(message, {"taskId", "task_id"}), "message.taskId"),
                  submission.task.value)) ||
      (bad = take(read_id(first_of(message, {"contextId", "context_id"}), "message.contextId"),
                  submission.context.value))) {
    return fail(*bad);
  }
  return {};
}

Result<task::PushConfig> read_config(json::Value config, const std::string& name) {
  auto read = read_push_config(config, name, task::ProtocolVersion::v1_0);
  if (read && !config["authentication"].absent() && read->schemes.empty()) {
    return wrong(name + ".authentication.scheme: must not be empty");
  }
  return read;
}

Result<void> read_configuration(json::Value configuration, SendRequest& read) {
  const std::string name = "configuration";
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong(name + ": must be an object");
  std::optional<bool> immediately;
  std::optional<base::Error> bad;
  if ((bad = take(read_strings(first_of(configuration, {"acceptedOutputModes", "accepted_output_modes"}),
                               name + ".acceptedOutputModes"),
                  read.submission.accepted_output_modes)) ||
      (bad = take(read_history(first_of(configuration, {"historyLength", "history_length"}),
                               name + ".historyLength", std::nullopt, Source::query),
                  read.history_length)) ||
      (bad = take(read_truth(first_of(configuration, {"returnImmediately", "return_immediately"}),
                             name + ".returnImmediately", Source::query),
                  immediately))) {
    return fail(*bad);
  }
  if (immediately) read.waits = !*immediately;
  const json::Value push =
      first_of(configuration, {"taskPushNotificationConfig", "task_push_notification_config"});
  if (push.absent()) return {};
  bad = take(read_config(push, name + ".taskPushNotificationConfig"), read.submission.push);
  if (bad) return fail(*bad);
  return {};
}

void write_config(json::Writer& out, const task::TaskId& task, const task::PushConfig& config) {
  out.object([&] {
    out.member("id", config.id.value).member("taskId", task.value).member("url", config.url);
    out.optional("token", config.token).optional("lastError", config.last_error);
    // 1.0 has room for one scheme: the first.
    if (config.schemes.empty()) return;
    out.key("authentication").object([&] {
      out.member("scheme", config.schemes.front()).optional("credentials", config.credentials);
    });
  });
}

void write_names(json::Writer& out, const TaskNames& names) {
  out.member("taskId", names.task.value).optional("contextId", names.context.value);
}

void write_status_update(json::Writer& out, const TaskNames& names, const task::Status& status,
                         const task::Json& metadata) {
  out.key("statusUpdate").object([&] {
    write_names(out, names);
    out.key("status");
    v1::write_status(out, status, names.task, names.context);
    out.optional("metadata", metadata);
  });
}

void write_artifact_update(json::Writer& out, const TaskNames& names, const task::ArtifactChunk& chunk,
                           const task::Json& metadata) {
  out.key("artifactUpdate").object([&] {
    write_names(out, names);
    out.key("artifact");
    v1::write_artifact(out, chunk.artifact);
    if (chunk.append) out.member("append", true);
    if (chunk.last_chunk) out.member("lastChunk", true);
    out.optional("metadata", metadata);
  });
}

class V10 final : public Dialect {
 public:
  V10() : Dialect(kV10) {}

  Result<SendRequest> read_send(json::Value params) const override;
  Result<TaskRequest> read_task_request(const Params& params) const override;
  Result<ListRequest> read_list(const Params& params) const override { return read_list_request(params); }
  Result<PushRequest> read_push(json::Value params) const override;
  Result<PushRef> read_push_ref(json::Value params) const override;

  void write_sent(json::Writer& out, const task::Task& task) const override {
    out.object([&] { v1::write_task(out.key("task"), task); });
  }
  void write_message(json::Writer& out, const task::Task& task) const override {
    out.object([&] { v1::write_message(out.key("message"), *task.status.message, {}, task.context); });
  }
  void write_task(json::Writer& out, const task::Task& task) const override { v1::write_task(out, task); }
  void write_list(json::Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                  const std::optional<task::ListPosition>& next, std::int64_t total) const override {
    write_list_answer(out, list, tasks, next, total);
  }
  void write_push(json::Writer& out, const task::TaskId& task,
                  const task::PushConfig& config) const override {
    write_config(out, task, config);
  }
  void write_pushes(json::Writer& out, const task::TaskId& task,
                    const std::vector<task::PushConfig>& configs) const override;

  void write_first(json::Writer& out, const task::Task& task, bool) const override { write_sent(out, task); }
  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override;

  void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const override {
    if (!write_event(out, {task.id, task.context}, event, {})) write_sent(out, task);
  }
  bool webhook_shows_task() const override { return false; }
  std::string_view webhook_content_type() const override { return "application/a2a+json"; }
};

Result<SendRequest> V10::read_send(json::Value params) const {
  if (auto done = check_params(params); !done) return fail(done.error());
  SendRequest read;
  read.history_length = std::nullopt;
  if (auto done = read_message(params["message"], read.submission); !done) return fail(done.error());
  if (auto done = read_configuration(params["configuration"], read); !done) return fail(done.error());
  auto bad = take(read_metadata(params["metadata"], "metadata", read.numbers), read.submission.metadata);
  if (bad) return fail(*bad);
  return read;
}

Result<TaskRequest> V10::read_task_request(const Params& params) const {
  if (auto done = check_params(params); !done) return fail(done.error());
  TaskRequest read;
  std::optional<base::Error> bad;
  if ((bad = take(read_required_id(params, "id", "id"), read.id.value)) ||
      (bad = take(read_history(params.first_of({"historyLength", "history_length"}), "historyLength",
                               std::nullopt, Source::query),
                  read.history_length)) ||
      (bad = take(read_last_event(params["metadata"]), read.last_event)) ||
      (bad = take(read_numbers_wish(params["metadata"].json(), "metadata"), read.numbers))) {
    return fail(*bad);
  }
  return read;
}

// `id` is the config's; Baton makes one if it is absent. In REST the path has taskId.
Result<PushRequest> V10::read_push(json::Value params) const {
  if (!params.is_object()) return wrong("params: must be an object");
  PushRequest read;
  std::optional<base::Error> bad;
  if ((bad = take(read_task_name(params, "taskId", "task_id"), read.task.value)) ||
      (bad = take(read_config(params, "params"), read.config))) {
    return fail(*bad);
  }
  return read;
}

Result<PushRef> V10::read_push_ref(json::Value params) const {
  if (auto done = check_params(params); !done) return fail(done.error());
  PushRef read;
  std::optional<base::Error> bad;
  if ((bad = take(read_required_id(params, "taskId", "task_id"), read.task.value)) ||
      (bad = take(read_id(params["id"], "id"), read.config.value))) {
    return fail(*bad);
  }
  return read;
}

// One page holds all configs of a task, so there is never a next page token. The list is written even if
// empty, for clients that do not know that ProtoJSON leaves out empty lists.
void V10::write_pushes(json::Writer& out, const task::TaskId& task,
                       const std::vector<task::PushConfig>& configs) const {
  out.object([&] {
    out.key("configs").array([&] {
      for (const task::PushConfig& config : configs) write_config(out, task, config);
    });
  });
}

bool V10::write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                      const InStream& place) const {
  return show_event(
      names.task, event, place,
      [&](const task::Status& status, const task::Json& metadata, bool) {
        out.object([&] { write_status_update(out, names, status, metadata); });
      },
      [&](const task::ArtifactChunk& chunk, const task::Json& metadata) {
        out.object([&] { write_artifact_update(out, names, chunk, metadata); });
      });
}

}  // namespace

const Dialect& v1_0() {
  static const V10 dialect;
  return dialect;
}

}  // namespace baton::protocol::a2a
