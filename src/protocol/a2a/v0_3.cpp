// A2A 0.2 and 0.3 over JSON-RPC (README.md, 5), and the dialect of 0.1, 0.2 and 0.3 at once.
//
// Reading accepts parts tagged as in 0.1, messages without a kind, and a file's bytes under `data`.
#include "protocol/a2a/members.h"
#include "protocol/a2a/tagged_dialect.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

constexpr std::optional<int> kAllHistory;

// A config without an id gets the task's, which is not yet known if the config comes with a new task's
// message.
Result<task::PushConfig> read_config(json::Value config, const std::string& name, const task::TaskId& task) {
  auto read = read_push_config(config, name, task::ProtocolVersion::v0_3);
  if (read && read->id.empty()) read->id.value = task.value;
  return read;
}

// Reads the message, and the ids of the task and the context it is for.
Result<void> read_message(json::Value message, task::Submission& submission) {
  const std::string name = "params.message";
  if (!message.is_object()) return wrong(name + ": must be an object");
  const json::Value kind = message["kind"], role = message["role"];
  if (!kind.absent() && kind.string() != "message") return wrong(name + ".kind: must be message");
  task::Message& read = submission.message;
  std::optional<base::Error> bad;
  if ((bad = take(read_id(message["messageId"], name + ".messageId"), read.id.value))) return fail(*bad);
  if (read.id.empty()) return wrong(name + ".messageId: must not be empty");
  if (role.string() != "user" && role.string() != "agent") {
    return wrong(name + ".role: must be user or agent");
  }
  if ((bad = take(read_id(message["taskId"], name + ".taskId"), submission.task.value)) ||
      (bad = take(read_id(message["contextId"], name + ".contextId"), submission.context.value)) ||
      (bad = take(read_parts(message["parts"], name + ".parts"), read.parts)) ||
      (bad = take(read_object(message["metadata"], name + ".metadata"), read.metadata)) ||
      (bad = take(read_strings(message["extensions"], name + ".extensions"), read.extensions)) ||
      (bad = take(read_task_ids(message["referenceTaskIds"], name + ".referenceTaskIds"),
                  read.reference_tasks))) {
    return fail(*bad);
  }
  return {};
}

Result<void> read_configuration(json::Value configuration, SendRequest& read) {
  const std::string name = "params.configuration";
  read.history_length = kAllHistory;
  if (configuration.absent()) return {};
  if (!configuration.is_object()) return wrong(name + ": must be an object");
  std::optional<base::Error> bad;
  if ((bad = take(read_strings(configuration["acceptedOutputModes"], name + ".acceptedOutputModes"),
                  read.submission.accepted_output_modes)) ||
      (bad = take(read_history(configuration["historyLength"], name + ".historyLength", kAllHistory),
                  read.history_length)) ||
      (bad = take(read_truth(configuration["blocking"], name + ".blocking"), read.waits))) {
    return fail(*bad);
  }
  const json::Value push = configuration["pushNotificationConfig"];
  if (push.absent()) return {};
  bad = take(read_config(push, name + ".pushNotificationConfig", read.submission.task), read.submission.push);
  if (bad) return fail(*bad);
  return {};
}

class V03 : public TaggedDialect {
 public:
  explicit V03(task::VersionRange spoken = kV02ToV03) : TaggedDialect(spoken, kAllHistory) {}

  Result<SendRequest> read_send(json::Value params) const override;
  Result<PushRequest> read_push(json::Value params) const override;
  Result<PushRef> read_push_ref(json::Value params) const override;

  void write_message(json::Writer& out, const task::Task& task) const override {
    TaggedObjects(out, kV02ToV03, {}, task.context).write_message(*task.status.message);
  }
};

Result<SendRequest> V03::read_send(json::Value params) const {
  if (params.missing()) return wrong("params: are missing");
  SendRequest read;
  read.submission.origin = task::ProtocolVersion::v0_3;
  if (auto done = read_message(params["message"], read.submission); !done) return fail(done.error());
  if (auto done = read_configuration(params["configuration"], read); !done) return fail(done.error());
  auto bad =
      take(read_metadata(params["metadata"], "params.metadata", read.numbers), read.submission.metadata);
  if (bad) return fail(*bad);
  return read;
}

Result<PushRequest> V03::read_push(json::Value params) const {
  if (params.missing()) return wrong("params: are missing");
  PushRequest read;
  if (auto bad = take(read_task_id(params, "taskId", "params.taskId"), read.task)) return fail(*bad);
  const json::Value config = params["pushNotificationConfig"];
  if (auto bad = take(read_config(config, "params.pushNotificationConfig", read.task), read.config)) {
    return fail(*bad);
  }
  return read;
}

Result<PushRef> V03::read_push_ref(json::Value params) const {
  if (params.missing()) return wrong("params: are missing");
  PushRef read;
  std::optional<base::Error> bad;
  if ((bad = take(read_task_id(params, "id", "params.id"), read.task)) ||
      (bad = take(read_id(params["pushNotificationConfigId"], "params.pushNotificationConfigId"),
                  read.config.value))) {
    return fail(*bad);
  }
  return read;
}

}  // namespace

const Dialect& v0_3() {
  static const V03 dialect;
  return dialect;
}

const Dialect& dual() {
  // A task that a client of 0.1 made is answered by its rules; for any other an absent historyLength means
  // all.
  static const V03 dialect(kBeforeV1);
  return dialect;
}

}  // namespace baton::protocol::a2a
