// A2A 0.3 over REST (README.md, 5): the dialect of its objects in ProtoJSON.
#include "protocol/a2a/members.h"
#include "protocol/a2a/v0_3_rest_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

// In the proto historyLength is a plain number: 0 stands for "not given" and means all.
void read_length(Fields& in, std::optional<int>& to) {
  to.reset();
  in.history({"historyLength", "history_length"}, to);
  if (to == 0) to.reset();
}

// Reads the task and the config that a request names, by resource names or, as in JSON-RPC, by ids. Empty if
// it names none, because the path names them.
Result<PushRef> read_ref(const Params& params, Fields::Names names, Fields::Names ids) {
  PushRef ref;
  Fields in(params);
  const Param name = params.first_of(names);
  in.id(ids, ref.task.value);
  if (!in.value(ids).absent() || name.absent()) return in.result(std::move(ref));
  const auto parsed = rest_v0_3::parse_name(name.string());
  if (!parsed) return wrong(std::string(*names.begin()) + ": must be a name such as tasks/1");
  return *parsed;
}

Result<task::PushConfig> v0_3_config(json::Value config, const std::string& name) {
  return read_push_config(config, name, task::ProtocolVersion::v0_3);
}

Result<void> read_rest_configuration(json::Value configuration, SendRequest& read) {
  // Without a configuration, waiting is unspecified. In a configuration, an absent `blocking` means false.
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong("configuration: must be an object");
  Fields in(configuration, "configuration.", Source::query);
  std::optional<bool> blocking;
  in.strings({"acceptedOutputModes", "accepted_output_modes"}, read.submission.accepted_output_modes);
  read_length(in, read.history_length);
  in.truth({"blocking"}, blocking);
  read.waits = blocking.value_or(false);
  in.read_if_given({"pushNotification", "push_notification", "pushNotificationConfig"}, v0_3_config,
                   read.submission.push);
  return in.result();
}

class V03Rest final : public Dialect {
 public:
  V03Rest() : Dialect(kV02ToV03) {}

  Result<SendRequest> read_send(json::Value params) const override {
    if (!params.is_object()) return wrong("params: must be an object");
    SendRequest read;
    read.submission.origin = task::ProtocolVersion::v0_3;
    read.history_length = std::nullopt;
    Fields in(params);
    // 0.2.6 uses the proto's own name for the message.
    in.take(rest_v0_3::read_message(first_of(params, {"message", "request"}), read.submission));
    in.take(read_rest_configuration(params["configuration"], read));
    read_metadata(in, read);
    return in.result(std::move(read));
  }

  // Old clients send null as the body.
  Result<TaskRequest> read_task_request(const Params& params) const override {
    if (!params.json().absent() && !params.json().is_object()) return wrong("params: must be an object");
    TaskRequest read;
    PushRef ref;
    Fields in(params, {}, Source::query);
    in.take(read_ref(params, {"name"}, {"id"}), ref);
    read_length(in, read.history_length);
    read_position(in, read);
    read.id = std::move(ref.task);
    return in.result(std::move(read));
  }

  // {parent, configId, config: {pushNotificationConfig}}, {config: ...}, or the config alone (README.md, 5).
  Result<PushRequest> read_push(json::Value params) const override {
    if (!params.is_object()) return wrong("params: must be an object");
    const json::Value outer = params["config"].is_object() ? params["config"] : params;
    const json::Value inner = first_of(outer, {"pushNotificationConfig", "push_notification_config"});
    PushRequest read;
    PushRef ref;
    std::string id;
    Fields in(params);
    in.take(read_ref(params["parent"].absent() ? outer : params, {"parent", "name"}, {"taskId"}), ref);
    in.id({"configId", "config_id"}, id);
    in.take(v0_3_config(inner.absent() ? outer : inner, "pushNotificationConfig"), read.config);
    read.task = std::move(ref.task);
    if (read.config.id.empty()) read.config.id.value = id.empty() ? ref.config.value : id;
    return in.result(std::move(read));
  }

  Result<PushRef> read_push_ref(json::Value params) const override {
    return read_ref(params, {"name", "parent"}, {"id", "taskId"});
  }

  void write_sent(json::Writer& out, const task::Task& task) const override {
    out.object([&] { rest_v0_3::write_task(out.key("task"), task); });
  }
  void write_message(json::Writer& out, const task::Task& task) const override {
    out.object([&] {
      rest_v0_3::write_message(out.key("message"), *task.status.message, {{}, task.context});
    });
  }
  void write_task(json::Writer& out, const task::Task& task) const override {
    rest_v0_3::write_task(out, task);
  }
  void write_push(json::Writer& out, const task::TaskId& task,
                  const task::PushConfig& config) const override {
    rest_v0_3::write_push(out, task, config);
  }

  void write_pushes(json::Writer& out, const task::TaskId& task, const std::vector<task::PushConfig>& configs,
                    std::string_view next) const override {
    out.object([&] {
      out.key("configs").each(configs,
                              [&](const task::PushConfig& config) { write_push(out, task, config); });
      out.member("nextPageToken", next);
    });
  }

  void write_first(json::Writer& out, const task::Task& task, bool) const override { write_sent(out, task); }

  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override {
    return write_proto_event(out, names, event, place, true, rest_v0_3::write_status,
                             rest_v0_3::write_artifact);
  }

  // Webhooks of 0.3 have the same body in every binding.
  void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const override {
    v0_3().write_webhook(out, task, event);
  }
};

}  // namespace

const Dialect& v0_3_rest() {
  static const V03Rest dialect;
  return dialect;
}

}  // namespace baton::protocol::a2a
