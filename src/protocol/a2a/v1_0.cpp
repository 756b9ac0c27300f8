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

// Reads the id of a task, which must be given only once.
void read_task_name(const Params& params, Fields::Names names, Fields& in, std::string& to) {
  if (params.repeats(*names.begin())) in.wrong(names, "is given more than once");
  in.id(names, to);
}

Result<void> read_v1_message(json::Value message, task::Submission& submission) {
  if (message.absent()) return wrong("message: is missing");
  auto read = v1::read_message(message, &submission.task, &submission.context);
  if (!read) {
    // Errors name members by a path that begins with the message.
    std::string& text = read.error().for_caller;
    if (!text.starts_with("message")) text.insert(0, "message.");
    return fail(std::move(read.error()));
  }
  submission.message = std::move(*read);
  // Reads the ids again to check their length.
  Fields in(message, "message.");
  if (submission.message.id.empty()) in.wrong({"messageId"}, "must not be empty");
  if (message["role"].absent()) in.wrong({"role"}, "must be ROLE_USER or ROLE_AGENT");
  in.id({"messageId", "message_id"}, submission.message.id.value);
  in.id({"taskId", "task_id"}, submission.task.value);
  in.id({"contextId", "context_id"}, submission.context.value);
  return in.result();
}

Result<task::PushConfig> read_v1_config(json::Value config, const std::string& name) {
  auto read = read_push_config(config, name, task::ProtocolVersion::v1_0);
  if (read && !config["authentication"].absent() && read->schemes.empty()) {
    return wrong(name + ".authentication.scheme: must not be empty");
  }
  return read;
}

Result<void> read_v1_configuration(json::Value configuration, SendRequest& read) {
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong("configuration: must be an object");
  Fields in(configuration, "configuration.", Source::query);
  std::optional<bool> immediately;
  in.strings({"acceptedOutputModes", "accepted_output_modes"}, read.submission.accepted_output_modes);
  in.history({"historyLength", "history_length"}, read.history_length);
  in.truth({"returnImmediately", "return_immediately"}, immediately);
  if (immediately) read.waits = !*immediately;
  // The last name is that of a draft. a2a-go 2.0 to 2.2 and the first a2a-dotnet of 1.0 send it.
  in.read_if_given({"taskPushNotificationConfig", "task_push_notification_config", "pushNotificationConfig"},
                   read_v1_config, read.submission.push);
  return in.result();
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

class V10 final : public Dialect {
 public:
  V10() : Dialect(kV10) {}

  Result<SendRequest> read_send(json::Value params) const override {
    if (auto done = check_params(params); !done) return fail(done.error());
    SendRequest read;
    read.history_length = std::nullopt;
    Fields in(params);
    in.take(read_v1_message(params["message"], read.submission));
    in.take(read_v1_configuration(params["configuration"], read));
    read_metadata(in, read);
    return in.result(std::move(read));
  }

  Result<TaskRequest> read_task_request(const Params& params) const override {
    if (auto done = check_params(params); !done) return fail(done.error());
    TaskRequest read;
    read.history_length = std::nullopt;
    Fields in(params, {}, Source::query);
    read_task_name(params, {"id"}, in, read.id.value);
    in.needed_id({"id"}, read.id.value);
    in.history({"historyLength", "history_length"}, read.history_length);
    read_position(in, read);
    return in.result(std::move(read));
  }

  Result<ListRequest> read_list(const Params& params) const override { return read_list_request(params); }
  // `id` is the config's id; if absent, Baton generates one. In REST, taskId is in the path. a2a-go 2.0
  // to 2.2 and the TCK nest the config, as a draft did: {taskId, configId, config: {url, ...}}.
  Result<PushRequest> read_push(json::Value params) const override {
    if (!params.is_object()) return wrong("params: must be an object");
    const json::Value nested = params["config"];
    PushRequest read;
    Fields in(params);
    read_task_name(params, {"taskId", "task_id"}, in, read.task.value);
    in.take(nested.is_object() ? read_v1_config(nested, "params.config") : read_v1_config(params, "params"),
            read.config);
    if (read.config.id.empty()) in.id({"configId"}, read.config.id.value);
    return in.result(std::move(read));
  }

  Result<PushRef> read_push_ref(json::Value params) const override {
    if (auto done = check_params(params); !done) return fail(done.error());
    PushRef read;
    Fields in(params);
    read_task_name(params, {"taskId", "task_id"}, in, read.task.value);
    in.needed_id({"taskId", "task_id"}, read.task.value);
    in.id({"id"}, read.config.value);
    in.take(read_push_page(params, read));
    return in.result(std::move(read));
  }

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
  // The list is written even if empty, for clients that do not know that ProtoJSON leaves out empty lists.
  void write_pushes(json::Writer& out, const task::TaskId& task, const std::vector<task::PushConfig>& configs,
                    std::string_view next) const override {
    out.object([&] {
      out.key("configs").each(configs,
                              [&](const task::PushConfig& config) { write_config(out, task, config); });
      out.optional("nextPageToken", next);
    });
  }

  void write_first(json::Writer& out, const task::Task& task, bool) const override { write_sent(out, task); }

  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override {
    const auto write_status = [](json::Writer& to, const task::Status& status, const TaskNames& of) {
      v1::write_status(to, status, of.task, of.context);
    };
    return write_proto_event(out, names, event, place, false, write_status, v1::write_artifact);
  }

  void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const override {
    if (!write_event(out, {task.id, task.context}, event, {})) write_sent(out, task);
  }
  bool webhook_shows_task() const override { return false; }
  std::string_view webhook_content_type() const override { return "application/a2a+json"; }
};

}  // namespace

const Dialect& v1_0() {
  static const V10 dialect;
  return dialect;
}

}  // namespace baton::protocol::a2a
