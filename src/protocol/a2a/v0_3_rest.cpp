// A2A 0.3 over REST (README.md, 5): the dialect of its objects in ProtoJSON.
#include "protocol/a2a/members.h"
#include "protocol/a2a/v0_3_rest_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

// In the proto this is a plain number, where 0 is "not given" and means all.
Result<std::optional<int>> read_length(const Params& owner, const std::string& name) {
  auto length =
      read_history(owner.first_of({"historyLength", "history_length"}), name, std::nullopt, Source::query);
  if (length && *length == 0) return std::optional<int>();
  return length;
}

// The task and the config that a request names, by resource names or, as in JSON-RPC, by ids. Empty if it
// names none: then the path does.
Result<PushRef> read_ref(const Params& params, std::initializer_list<std::string_view> names,
                         std::initializer_list<std::string_view> ids) {
  PushRef ref;
  const Param name = params.first_of(names), id = params.first_of(ids);
  const std::string member(name.absent() ? *ids.begin() : *names.begin());
  if (!id.absent()) {
    if (auto bad = take(read_id(id, std::string(*ids.begin())), ref.task.value)) return fail(*bad);
  } else if (!name.absent()) {
    const auto parsed = rest_v0_3::parse_name(name.string());
    if (!parsed) return wrong(member + ": must be a name such as tasks/1");
    ref = *parsed;
  }
  return ref;
}

Result<void> read_configuration(json::Value configuration, SendRequest& read) {
  const std::string name = "configuration";
  // Without a configuration nothing is said about waiting. In one, an absent `blocking` means false.
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong(name + ": must be an object");
  std::optional<bool> blocking;
  std::optional<base::Error> bad;
  if ((bad = take(read_strings(first_of(configuration, {"acceptedOutputModes", "accepted_output_modes"}),
                               name + ".acceptedOutputModes"),
                  read.submission.accepted_output_modes)) ||
      (bad = take(read_length(configuration, name + ".historyLength"), read.history_length)) ||
      (bad = take(read_truth(configuration["blocking"], name + ".blocking", Source::query), blocking))) {
    return fail(*bad);
  }
  read.waits = blocking.value_or(false);
  const json::Value push =
      first_of(configuration, {"pushNotification", "push_notification", "pushNotificationConfig"});
  if (push.absent()) return {};
  bad = take(read_push_config(push, name + ".pushNotification", task::ProtocolVersion::v0_3),
             read.submission.push);
  if (bad) return fail(*bad);
  return {};
}

class V03Rest final : public Dialect {
 public:
  V03Rest() : Dialect(kV02ToV03) {}

  Result<SendRequest> read_send(json::Value params) const override;
  Result<TaskRequest> read_task_request(const Params& params) const override;
  Result<PushRequest> read_push(json::Value params) const override;
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
  void write_pushes(json::Writer& out, const task::TaskId& task,
                    const std::vector<task::PushConfig>& configs) const override;

  void write_first(json::Writer& out, const task::Task& task, bool) const override { write_sent(out, task); }
  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override;
  // Webhooks of 0.3 have the same body in every binding.
  void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const override {
    v0_3().write_webhook(out, task, event);
  }
};

Result<SendRequest> V03Rest::read_send(json::Value params) const {
  if (!params.is_object()) return wrong("params: must be an object");
  SendRequest read;
  read.submission.origin = task::ProtocolVersion::v0_3;
  read.history_length = std::nullopt;
  // 0.2.6 uses the proto's own name for the message.
  auto message = rest_v0_3::read_message(first_of(params, {"message", "request"}));
  if (!message) return fail(message.error());
  read.submission.message = std::move(message->message);
  read.submission.task = std::move(message->task);
  read.submission.context = std::move(message->context);
  if (auto done = read_configuration(params["configuration"], read); !done) return fail(done.error());
  auto bad = take(read_metadata(params["metadata"], "metadata", read.numbers), read.submission.metadata);
  if (bad) return fail(*bad);
  return read;
}

// Old clients send null as the body.
Result<TaskRequest> V03Rest::read_task_request(const Params& params) const {
  if (!params.json().absent() && !params.json().is_object()) return wrong("params: must be an object");
  TaskRequest read;
  PushRef ref;
  std::optional<base::Error> bad;
  if ((bad = take(read_ref(params, {"name"}, {"id"}), ref)) ||
      (bad = take(read_length(params, "historyLength"), read.history_length)) ||
      (bad = take(read_last_event(params["metadata"]), read.last_event)) ||
      (bad = take(read_numbers_wish(params["metadata"].json(), "metadata"), read.numbers))) {
    return fail(*bad);
  }
  read.id = std::move(ref.task);
  return read;
}

// {parent, configId, config: {pushNotificationConfig}}, {config: ...}, or the config alone (README.md, 5).
Result<PushRequest> V03Rest::read_push(json::Value params) const {
  if (!params.is_object()) return wrong("params: must be an object");
  const json::Value outer = params["config"].is_object() ? params["config"] : params;
  const json::Value inner = first_of(outer, {"pushNotificationConfig", "push_notification_config"});
  PushRequest read;
  PushRef ref;
  std::string id;
  std::optional<base::Error> bad;
  if ((bad =
           take(read_ref(params["parent"].absent() ? outer : params, {"parent", "name"}, {"taskId"}), ref)) ||
      (bad = take(read_id(first_of(params, {"configId", "config_id"}), "configId"), id)) ||
      (bad = take(read_push_config(inner.absent() ? outer : inner, "pushNotificationConfig",
                                   task::ProtocolVersion::v0_3),
                  read.config))) {
    return fail(*bad);
  }
  read.task = std::move(ref.task);
  if (read.config.id.empty()) read.config.id.value = id.empty() ? ref.config.value : id;
  return read;
}

void V03Rest::write_pushes(json::Writer& out, const task::TaskId& task,
                           const std::vector<task::PushConfig>& configs) const {
  out.object([&] {
    out.key("configs").array([&] {
      for (const task::PushConfig& config : configs) write_push(out, task, config);
    });
    out.member("nextPageToken", "");
  });
}

bool V03Rest::write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                          const InStream& place) const {
  return show_event(
      names.task, event, place,
      [&](const task::Status& status, const task::Json& metadata, bool final) {
        out.object([&] { rest_v0_3::write_status_update(out, names, status, metadata, final); });
      },
      [&](const task::ArtifactChunk& chunk, const task::Json& metadata) {
        out.object([&] { rest_v0_3::write_artifact_update(out, names, chunk, metadata); });
      });
}

}  // namespace

const Dialect& v0_3_rest() {
  static const V03Rest dialect;
  return dialect;
}

}  // namespace baton::protocol::a2a
