// The objects of A2A 1.0 in its JSON (ProtoJSON of a2a.proto): messages, parts, artifacts, statuses, tasks.
//
// The line protocol of command executors and the rows of the store use these shapes too. Writing appends to a
// Writer. Reading checks what the specification requires and fails with invalid_argument and a text that
// names the member ("parts[2]: exactly one of text, raw, url and data is needed"). Unknown members are
// ignored; snake_case names and enum numbers are accepted.
#pragma once

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "task/task.h"

namespace baton::protocol::v1 {

void write_part(json::Writer& out, const task::Part& part);
void write_parts(json::Writer& out, const std::vector<task::Part>& parts);
// Includes the ids of the task and the context, unless empty.
void write_message(json::Writer& out, const task::Message& message, const task::TaskId& task = {},
                   const task::ContextId& context = {});
void write_artifact(json::Writer& out, const task::Artifact& artifact);
// Returns the message of a status. If its question came from a child, the metadata names the child, as
// described in baton_extension.h.
task::Message status_message(const task::Status& status);
void write_status(json::Writer& out, const task::Status& status, const task::TaskId& task = {},
                  const task::ContextId& context = {});
enum class Artifacts { where_any, always, never };
void write_task(json::Writer& out, const task::Task& task, Artifacts artifacts = Artifacts::where_any);

base::Result<task::Part> read_part(json::Value part);
base::Result<std::vector<task::Part>> read_parts(json::Value parts);
// A message without an id gets none; the caller generates one if needed. `task` and `context` receive its
// taskId and contextId if present, unless the pointers are null.
base::Result<task::Message> read_message(json::Value message, task::TaskId* task = nullptr,
                                         task::ContextId* context = nullptr);
// `ordinal` is not in the JSON and stays 0. An artifact without an id gets none.
base::Result<task::Artifact> read_artifact(json::Value artifact);

// "TASK_STATE_INPUT_REQUIRED" and so on.
std::string_view state_name(task::State state);
// Find a state by name, or by number in a2a.proto. Return nullopt for unspecified and unknown states.
std::optional<task::State> state_named(std::string_view name);
std::optional<task::State> state_numbered(std::int64_t number);
int number_of(task::State state);

}  // namespace baton::protocol::v1
