// Handles: the tasks extension of revision 2026-07-28. The id of a handle is its task's, so that any node can
// answer for it, also after a restart.
//
// Threads: on threads that may block.
#pragma once

#include "server/a2a/task_reads.h"
#include "server/mcp/call.h"

namespace baton::server::mcp {

// Answers a call with a handle; with the result if the task has ended, or asks what the client cannot be
// asked. For callbacks.
void answer_with_handle(const McpCallPtr& call, task::TaskKey key);

// Reads what a handle shows of the task as of its head: a task that works has only its newest status, which
// is one event. `done` as of a2a::read_task.
void read_shown(const McpCallPtr& call, const task::TaskHead& head, const a2a::TaskRead& done);

// Writes a task as tasks/get and the notifications about it show it. `task`: from read_shown.
void write_detailed(json::Writer& out, const McpCallPtr& call, const task::TaskHead& head,
                    const task::Task& task);

// tasks/get, tasks/update and tasks/cancel. `responses` is read before the function returns.
void get_task(const McpCallPtr& call, const task::TaskId& id);
void update_task(const McpCallPtr& call, const task::TaskId& id, json::Value responses);
void cancel_task(const McpCallPtr& call, const task::TaskId& id);

}  // namespace baton::server::mcp
