#include "protocol/a2a/tagged_dialect.h"

#include "protocol/a2a/members.h"

namespace baton::protocol::a2a {

using base::fail;
using base::Result;

Result<TaskRequest> TaggedDialect::read_task_request(const Params& given) const {
  const json::Value params = given.json();
  if (params.missing()) return wrong("params: are missing");
  TaskRequest read;
  std::optional<base::Error> bad;
  if ((bad = take(read_task_id(params, "id", "params.id"), read.id)) ||
      (bad = take(read_history(params["historyLength"], "params.historyLength", history_absent_),
                  read.history_length)) ||
      (bad = take(read_last_event(params["metadata"]), read.last_event)) ||
      (bad = take(read_numbers_wish(params["metadata"], "params.metadata"), read.numbers))) {
    return fail(*bad);
  }
  read.says_history = !params["historyLength"].absent();
  return read;
}

void TaggedDialect::write_task(json::Writer& out, const task::Task& task) const {
  TaggedObjects(out, versions(), task.id, task.context, task.origin).write_task(task);
}

void TaggedDialect::write_push(json::Writer& out, const task::TaskId& task,
                               const task::PushConfig& config) const {
  TaggedObjects(out, versions(), task, {}).write_push(config);
}

void TaggedDialect::write_pushes(json::Writer& out, const task::TaskId& task,
                                 const std::vector<task::PushConfig>& configs) const {
  out.array([&] {
    for (const task::PushConfig& config : configs) write_push(out, task, config);
  });
}

void TaggedDialect::write_first(json::Writer& out, const task::Task& task, bool last) const {
  // A Task of 0.2 and 0.3 has no such member.
  const bool has_v0_1 = versions().contains(task::ProtocolVersion::v0_1);
  const auto final = has_v0_1 ? std::optional(last) : std::nullopt;
  TaggedObjects(out, versions(), task.id, task.context, task.origin).write_task(task, final);
}

bool TaggedDialect::write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                                const InStream& place) const {
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

void TaggedDialect::write_webhook(json::Writer& out, const task::Task& task, const task::Event&) const {
  write_task(out, task);
}

}  // namespace baton::protocol::a2a
