// Calls of tools: the send, the wait for its outcome, and the answer.
//
// A call waits for the first stop of its task after an event. While it waits, nothing is kept but the log:
// waits are looks of a few seconds, and the first one after the client has closed the stream ends the call.
// Threads: on threads that may block.
#pragma once

#include "protocol/mcp/echoes.h"
#include "protocol/mcp/elicitation.h"
#include "server/mcp/admit.h"
#include "server/mcp/call.h"

namespace baton::server::mcp {

// tools/call. `params` is read before the function returns.
void call_tool(const McpCallPtr& call, const Tool& tool, json::Value params);
// Takes up the stream of a legacy call again, as its answer.
void resume_call(const McpCallPtr& call, const protocol::mcp::StreamPlace& place);

// The question that the task waits with, if it is the newest status of the head, which the second function
// reads. Its status is the task's, which must outlive it.
protocol::mcp::Question question_of(const task::TaskHead& head, const task::Task& task);
protocol::mcp::Question question_of(const McpCallPtr& call, task::TaskKey key, const task::Task& task);

// The send that answers the question that a task waits with. Fails with conflict if that question, or any if
// `ask` is empty, is not open, or the message is none.
using ReadAnswer = std::function<base::Result<std::optional<task::Message>>(const protocol::mcp::Question&)>;
base::Result<protocol::a2a::SendRequest> answer_to(const McpCallPtr& call, const task::TaskId& task,
                                                   const std::string& ask, const ReadAnswer& read);

// Fails as TaskService::submit does. `done` may run on any thread.
void submit(const McpCallPtr& call, protocol::a2a::SendRequest send, engine::TaskService::Submitted done);

}  // namespace baton::server::mcp
