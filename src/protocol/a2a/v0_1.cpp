// A2A 0.1, the tasks era (README.md, 4).
//
// Reading accepts what hand-written clients of that time send: `data` for `parts`, `kind` for `type` or
// neither, a file's bytes under `data`, one scheme in place of a list, whole numbers for ids.
#include "protocol/a2a/members.h"
#include "protocol/a2a/tagged_dialect.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;

// 0.1 has no config ids: the task's id is used.
Result<task::PushConfig> read_config(json::Value config, const std::string& name, const task::TaskId& task) {
  auto read = read_push_config(config, name, task::ProtocolVersion::v0_1);
  if (!read) return read;
  read->id.value = task.value;
  if (!config["authentication"].absent()) read->authentication_extra = config["authentication"].json();
  return read;
}

Result<task::Message> read_message(json::Value message) {
  if (!message.is_object()) return wrong("params.message: must be an object");
  const json::Value role = message["role"];
  if (!role.absent() && role.string() != "user" && role.string() != "agent") {
    return wrong("params.message.role: must be user or agent");
  }
  task::Message read;
  std::optional<base::Error> bad;
  if ((bad = take(read_parts(first_of(message, {"parts", "data"}), "params.message.parts"), read.parts)) ||
      (bad = take(read_object(message["metadata"], "params.message.metadata"), read.metadata))) {
    return fail(*bad);
  }
  return read;
}

class V01 final : public TaggedDialect {
 public:
  V01() : TaggedDialect(kV01, 0) {}

  Result<SendRequest> read_send(json::Value params) const override;
  Result<PushRequest> read_push(json::Value params) const override;
  Result<PushRef> read_push_ref(json::Value params) const override;
};

Result<SendRequest> V01::read_send(json::Value params) const {
  if (params.missing()) return wrong("params: are missing");
  SendRequest read;
  task::Submission& submission = read.submission;
  std::optional<base::Error> bad;
  if ((bad = take(read_task_id(params, "id", "params.id"), submission.task)) ||
      (bad = take(read_id(params["sessionId"], "params.sessionId"), submission.context.value)) ||
      (bad = take(read_message(params["message"]), submission.message)) ||
      (bad = take(read_metadata(params["metadata"], "params.metadata", read.numbers), submission.metadata)) ||
      (bad = take(read_strings(params["acceptedOutputModes"], "params.acceptedOutputModes"),
                  submission.accepted_output_modes)) ||
      (bad = take(read_history(params["historyLength"], "params.historyLength", 0), read.history_length))) {
    return fail(*bad);
  }
  const json::Value push = params["pushNotification"];
  if (!push.absent()) {
    bad = take(read_config(push, "params.pushNotification", submission.task), submission.push);
    if (bad) return fail(*bad);
  }
  submission.origin = task::ProtocolVersion::v0_1;
  submission.when_unknown = task::WhenUnknown::create;
  submission.when_ended = task::WhenEnded::reopen;
  submission.when_context_differs = task::WhenContextDiffers::ignore;
  return read;
}

Result<PushRequest> V01::read_push(json::Value params) const {
  if (params.missing()) return wrong("params: are missing");
  PushRequest read;
  if (auto bad = take(read_task_id(params, "id", "params.id"), read.task)) return fail(*bad);
  const json::Value config = params["pushNotificationConfig"];
  if (auto bad = take(read_config(config, "params.pushNotificationConfig", read.task), read.config)) {
    return fail(*bad);
  }
  return read;
}

Result<PushRef> V01::read_push_ref(json::Value params) const {
  auto request = read_task_request(params);
  if (!request) return fail(request.error());
  return PushRef{std::move(request->id), {}};
}

}  // namespace

const Dialect& v0_1() {
  static const V01 dialect;
  return dialect;
}

}  // namespace baton::protocol::a2a
