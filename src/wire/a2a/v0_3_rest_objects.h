// The objects of A2A 0.3 in the ProtoJSON of its proto, a2a.v1 (README.md, 5): what
// its REST binding carries.
//
// Nothing the proto lacks is written, and no defaults. Reading also takes the names of the proto itself
// (snake_case, enum numbers) and the shapes of JSON-RPC; errors name the whole path of a member.
// Threads: any; stateless.
#pragma once

#include "base/error.h"
#include "task/task.h"
#include "wire/a2a/dialect.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::a2a::rest_v0_3 {

// With the ids of the task and the context, where they are not empty.
void write_message(Writer& out, const task::Message& message, const TaskNames& names);
void write_task(Writer& out, const task::Task& task);
// Members of a StreamResponse, with their names.
void write_status_update(Writer& out, const TaskNames& names, const task::Status& status,
                         const task::Json& metadata, bool final);
void write_artifact_update(Writer& out, const TaskNames& names, const task::ArtifactChunk& chunk,
                           const task::Json& metadata);
void write_push(Writer& out, const task::TaskId& task, const task::PushConfig& config);

// A message, and the task and context it is for.
struct Addressed {
  task::Message message;
  task::TaskId task;
  task::ContextId context;
};
base::Result<Addressed> read_message(Value message);

// "tasks/{task}" and "tasks/{task}/pushNotificationConfigs/{config}", where the JavaScript SDK leaves the
// config empty if it has none; nothing for anything else. Task ids of 0.1 may have slashes.
std::optional<PushRef> parse_name(std::string_view name);

}  // namespace baton::wire::a2a::rest_v0_3
