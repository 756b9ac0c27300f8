// The objects of A2A 0.3 in the ProtoJSON of its proto, a2a.v1 (README.md, 5), which its REST binding
// carries.
//
// Only members of the proto are written, and no defaults. Reading also accepts the proto's own names
// (snake_case, enum numbers) and the shapes of JSON-RPC. Errors name the full path of a member. Threads: any;
// stateless.
#pragma once

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/dialect.h"
#include "task/task.h"

namespace baton::protocol::a2a::rest_v0_3 {

// Includes the ids of the task and the context, unless empty.
void write_message(json::Writer& out, const task::Message& message, const TaskNames& names);
void write_task(json::Writer& out, const task::Task& task);
void write_status(json::Writer& out, const task::Status& status, const TaskNames& names);
void write_artifact(json::Writer& out, const task::Artifact& artifact);
void write_push(json::Writer& out, const task::TaskId& task, const task::PushConfig& config);

// Reads the message, and the ids of its task and context.
base::Result<void> read_message(json::Value message, task::Submission& submission);

// Parses "tasks/{task}", "tasks/{task}/pushNotificationConfigs" and
// "tasks/{task}/pushNotificationConfigs/{config}"; the JavaScript SDK sends an empty config if it has none.
// Returns nullopt for any other name. Ids of configs and task ids of 0.1 may contain slashes.
std::optional<PushRef> parse_name(std::string_view name);

}  // namespace baton::protocol::a2a::rest_v0_3
