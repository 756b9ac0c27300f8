// The dialects over JSON-RPC before 1.0 (README.md, 4, 5 and 9): 0.1, 0.2 and 0.3, and all of them at once.
#include "protocol/a2a/dialect.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/tagged_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

// TaggedDialect: the base of the dialects of 0.1, of 0.2 and 0.3, and of all three at once. They share
// TaggedObjects and requests that name a task by params.id.
class TaggedDialect : public Dialect {
 public:
  base::Result<TaskRequest> read_task_request(const Params& given) const override {
    const json::Value params = given.json();
    if (params.missing()) return wrong("params: is missing");
    TaskRequest read;
    read.history_length = history_absent_;
    Fields in(params, "params.");
    in.task_id("id", read.id);
    in.history({"historyLength"}, read.history_length);
    read_position(in, read);
    read.says_history = !params["historyLength"].absent();
    return in.result(std::move(read));
  }

  void write_task(json::Writer& out, const task::Task& task) const override {
    TaggedObjects(out, versions(), task.id, task.context, task.origin).write_task(task);
  }

  void write_push(json::Writer& out, const task::TaskId& task,
                  const task::PushConfig& config) const override {
    TaggedObjects(out, versions(), task, {}).write_push(config);
  }

  void write_pushes(json::Writer& out, const task::TaskId& task, const std::vector<task::PushConfig>& configs,
                    std::string_view /*next*/) const override {
    out.each(configs, [&](const task::PushConfig& config) { write_push(out, task, config); });
  }

  void write_first(json::Writer& out, const task::Task& task, bool last) const override {
    // A Task of 0.2 and 0.3 has no such member.
    const bool has_v0_1 = versions().contains(task::ProtocolVersion::v0_1);
    const auto final = has_v0_1 ? std::optional(last) : std::nullopt;
    TaggedObjects(out, versions(), task.id, task.context, task.origin).write_task(task, final);
  }

  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override {
    TaggedObjects objects(out, versions(), names.task, names.context, names.origin);
    return show_event(
        names.task, event, place,
        [&](const task::Status& status, const task::Json& metadata, bool final) {
          objects.write_status_event(status, metadata, final);
        },
        [&](const task::ArtifactChunk& chunk, const task::Json& metadata) {
          objects.write_artifact_event(chunk, metadata);
        });
  }

  void write_webhook(json::Writer& out, const task::Task& task, const task::Event&) const override {
    write_task(out, task);
  }

 protected:
  // `history_absent`: the meaning of an absent historyLength, as in task::Depth.
  TaggedDialect(task::VersionRange spoken, std::optional<int> history_absent)
      : Dialect(spoken), history_absent_(history_absent) {}

 private:
  const std::optional<int> history_absent_;
};

// ---- A2A 0.1, the tasks era (README.md, 4).
//
// Reading accepts the requests of hand-written clients of that time: `data` for `parts`, `kind` for `type` or
// neither, a file's bytes under `data`, one scheme in place of a list, whole numbers for ids.

// 0.1 has no config ids: the task's id is used.
auto v0_1_config_of(const task::TaskId& task) {
  return [&task](json::Value config, const std::string& name) {
    auto read = read_push_config(config, name, task::ProtocolVersion::v0_1);
    if (!read) return read;
    read->id.value = task.value;
    if (!config["authentication"].absent()) read->authentication_extra = config["authentication"].json();
    return read;
  };
}

Result<task::Message> read_v0_1_message(json::Value message, const std::string& name) {
  if (!message.is_object()) return wrong(name + ": must be an object");
  Fields in(message, name + ".");
  const json::Value role = message["role"];
  if (!role.absent() && role.string() != "user" && role.string() != "agent") {
    in.wrong({"role"}, "must be user or agent");
  }
  task::Message read;
  in.take(read_parts(first_of(message, {"parts", "data"}), name + ".parts"), read.parts);
  in.object({"metadata"}, read.metadata);
  return in.result(std::move(read));
}

class V01 final : public TaggedDialect {
 public:
  V01() : TaggedDialect(kV01, 0) {}

  Result<SendRequest> read_send(json::Value params) const override {
    if (params.missing()) return wrong("params: is missing");
    SendRequest read;
    task::Submission& submission = read.submission;
    Fields in(params, "params.");
    in.task_id("id", submission.task);
    in.id({"sessionId"}, submission.context.value);
    in.read({"message"}, read_v0_1_message, submission.message);
    read_metadata(in, read);
    in.strings({"acceptedOutputModes"}, submission.accepted_output_modes);
    in.history({"historyLength"}, read.history_length);
    in.read_if_given({"pushNotification"}, v0_1_config_of(submission.task), submission.push);
    submission.origin = task::ProtocolVersion::v0_1;
    submission.when_unknown = task::WhenUnknown::create;
    submission.when_ended = task::WhenEnded::reopen;
    submission.when_context_differs = task::WhenContextDiffers::ignore;
    return in.result(std::move(read));
  }

  Result<PushRequest> read_push(json::Value params) const override {
    if (params.missing()) return wrong("params: is missing");
    PushRequest read;
    Fields in(params, "params.");
    in.task_id("id", read.task);
    in.read({"pushNotificationConfig"}, v0_1_config_of(read.task), read.config);
    return in.result(std::move(read));
  }

  Result<PushRef> read_push_ref(json::Value params) const override {
    return read_task_request(params).map([](TaskRequest&& request) {
      return PushRef{std::move(request.id), {}};
    });
  }
};

// ---- A2A 0.2 and 0.3 over JSON-RPC (README.md, 5), and the dialect of 0.1, 0.2 and 0.3 at once.
//
// Reading accepts parts tagged as in 0.1, messages without a kind, and a file's bytes under `data`.

constexpr std::optional<int> kAllHistory;

// A config without an id gets the task's id, which is not yet known if the config comes with a new task's
// message.
auto v0_3_config_of(const task::TaskId& task) {
  return [&task](json::Value config, const std::string& name) {
    auto read = read_push_config(config, name, task::ProtocolVersion::v0_3);
    if (read && read->id.empty()) read->id.value = task.value;
    return read;
  };
}

// Reads the message, and the ids of its task and context.
Result<void> read_v0_3_message(json::Value message, task::Submission& submission) {
  if (!message.is_object()) return wrong("params.message: must be an object");
  Fields in(message, "params.message.");
  const json::Value kind = message["kind"], role = message["role"];
  if (!kind.absent() && kind.string() != "message") in.wrong({"kind"}, "must be message");
  task::Message& read = submission.message;
  in.needed_id({"messageId"}, read.id.value);
  if (role.string() != "user" && role.string() != "agent") in.wrong({"role"}, "must be user or agent");
  in.id({"taskId"}, submission.task.value);
  in.id({"contextId"}, submission.context.value);
  in.take(read_parts(message["parts"], "params.message.parts"), read.parts);
  in.object({"metadata"}, read.metadata);
  in.strings({"extensions"}, read.extensions);
  in.task_ids({"referenceTaskIds"}, read.reference_tasks);
  return in.result();
}

Result<void> read_v0_3_configuration(json::Value configuration, SendRequest& read) {
  read.history_length = kAllHistory;
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong("params.configuration: must be an object");
  Fields in(configuration, "params.configuration.");
  in.strings({"acceptedOutputModes"}, read.submission.accepted_output_modes);
  in.history({"historyLength"}, read.history_length);
  in.truth({"blocking"}, read.waits);
  // The second name is that of the proto. The first releases of a2a-dotnet send it.
  in.read_if_given({"pushNotificationConfig", "pushNotification"}, v0_3_config_of(read.submission.task),
                   read.submission.push);
  return in.result();
}

class V03 : public TaggedDialect {
 public:
  explicit V03(task::VersionRange spoken = kV02ToV03) : TaggedDialect(spoken, kAllHistory) {}

  Result<SendRequest> read_send(json::Value params) const override {
    if (params.missing()) return wrong("params: is missing");
    SendRequest read;
    read.submission.origin = task::ProtocolVersion::v0_3;
    Fields in(params, "params.");
    in.take(read_v0_3_message(params["message"], read.submission));
    in.take(read_v0_3_configuration(params["configuration"], read));
    read_metadata(in, read);
    return in.result(std::move(read));
  }

  Result<PushRequest> read_push(json::Value params) const override {
    if (params.missing()) return wrong("params: is missing");
    PushRequest read;
    Fields in(params, "params.");
    in.task_id("taskId", read.task);
    in.read({"pushNotificationConfig"}, v0_3_config_of(read.task), read.config);
    return in.result(std::move(read));
  }

  Result<PushRef> read_push_ref(json::Value params) const override {
    if (params.missing()) return wrong("params: is missing");
    PushRef read;
    Fields in(params, "params.");
    in.task_id("id", read.task);
    in.id({"pushNotificationConfigId"}, read.config.value);
    return in.result(std::move(read));
  }

  void write_message(json::Writer& out, const task::Task& task) const override {
    TaggedObjects(out, kV02ToV03, {}, task.context).write_message(*task.status.message);
  }
};

}  // namespace

const Dialect& v0_1() {
  static const V01 dialect;
  return dialect;
}

const Dialect& v0_3() {
  static const V03 dialect;
  return dialect;
}

const Dialect& dual() {
  // A task that a client of 0.1 created is answered by the rules of 0.1; for any other task an absent
  // historyLength means all.
  static const V03 dialect(kBeforeV1);
  return dialect;
}

}  // namespace baton::protocol::a2a
