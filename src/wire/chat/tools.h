// Tool calls and results as messages and views show them, in any protocol.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "task/event.h"
#include "wire/chat/run_request.h"
#include "wire/chat/run_view.h"

namespace baton::wire::chat {

// A tool's result as the text that clients show and models read: a JSON string is its text, other JSON is
// itself, and a failure is its error.
std::string text_of(const task::ToolResult& result);

// The data parts of run_request.h, {"toolCall":...} and {"toolResult":...}.
task::Part part_of(const task::ToolCall& call);
task::Part part_of(const ClientResult& result);

// The text of a question; never empty.
std::string prompt_of(const Question& question);
// Whether a question is shown as a call of the client's own tool `confirm_tool`.
bool asks_by_tool(const RunFacts& facts, const Question& question);
// The arguments of that call.
std::string arguments_of(const Question& question);

}  // namespace baton::wire::chat
