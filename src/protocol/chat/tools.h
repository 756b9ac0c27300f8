// Tool calls and results in the form that messages and views of any protocol use.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "protocol/chat/run_request.h"
#include "protocol/chat/run_view.h"
#include "task/event.h"

namespace baton::protocol::chat {

// Returns a tool's result as text for clients and models: the text of a JSON string, the JSON text of any
// other value, or the error of a failed call.
std::string text_of(const task::ToolResult& result);

// The data parts of run_request.h, {"toolCall":...} and {"toolResult":...}.
task::Part part_of(const task::ToolCall& call);
task::Part part_of(const ClientResult& result);

// The results of client tools in a message that answers a tool call: data parts
// {"toolResult":{"id","content","error"}}.
std::vector<task::ToolResult> tool_results_in(const task::Message& message);

// The text of a question; never empty.
std::string prompt_of(const Question& question);
// Whether a question is shown as a call of the client's own tool `confirm_tool`.
bool asks_by_tool(const RunFacts& facts, const Question& question);
// The arguments of that call.
std::string arguments_of(const Question& question);

}  // namespace baton::protocol::chat
