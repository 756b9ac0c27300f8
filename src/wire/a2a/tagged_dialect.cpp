#include "wire/a2a/tagged_dialect.h"

#include "wire/a2a/members.h"

namespace baton::wire::a2a {

using base::fail;
using base::Result;

Result<TaskRequest> TaggedDialect::read_task_request(Value params) const {
  if (params.missing()) return wrong("params: are missing");
  TaskRequest read;
  std::optional<base::Error> bad;
  if ((bad = take(read_task_id(params, "id", "params.id"), read.id)) ||
      (bad = take(read_history(params["historyLength"], "params.historyLength", history_absent_),
                  read.history_length)) ||
      (bad = take(read_last_event(params), read.last_event)) ||
      (bad = take(read_numbers_wish(params["metadata"], "params.metadata"), read.numbers))) {
    return fail(*bad);
  }
  read.says_history = !params["historyLength"].absent();
  return read;
}

void TaggedDialect::write_task(Writer& out, const task::Task& task) const {
  TaggedObjects(out, tags_, task.id, task.context, task.origin).write_task(task);
}

void TaggedDialect::write_push(Writer& out, const task::TaskId& task, const task::PushConfig& config) const {
  TaggedObjects(out, tags_, task, {}).write_push(config);
}

void TaggedDialect::write_pushes(Writer& out, const task::TaskId& task,
                                 const std::vector<task::PushConfig>& configs) const {
  out.array([&] {
    for (const task::PushConfig& config : configs) write_push(out, task, config);
  });
}

void TaggedDialect::write_first(Writer& out, const task::Task& task, bool last) const {
  // A Task of 0.2 and 0.3 has no such member.
  const auto final = tags_ == Tags::v0_2_and_v0_3 ? std::optional<bool>() : last;
  TaggedObjects(out, tags_, task.id, task.context, task.origin).write_task(task, final);
}

bool TaggedDialect::write_event(Writer& out, const TaskNames& names, const task::Event& event,
                                const InStream& place) const {
  TaggedObjects objects(out, tags_, names.task, names.context, names.origin);
  if (const auto* changed = task::status_in(event)) {
    objects.write_status_event(changed->status, shown_metadata(changed->metadata, place),
                               place.last || task::is_terminal(changed->status.state));
  } else if (const auto* text = std::get_if<task::TextDelta>(&event.body)) {
    if (text->in_status) return false;
    objects.write_artifact_event(as_chunk(*text), shown_metadata({}, place));
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    objects.write_artifact_event(*chunk, shown_metadata({}, place));
  } else if (const auto status = tool_status(names.task, event)) {
    objects.write_status_event(*status, shown_metadata({}, place), place.last);
  } else {
    // Messages are not shown either: to a client of 0.2 and 0.3, a message in a stream is the whole answer
    // and ends the stream.
    return false;
  }
  return true;
}

void TaggedDialect::write_webhook(Writer& out, const task::Task& task, const task::Event&) const {
  write_task(out, task);
}

}  // namespace baton::wire::a2a
