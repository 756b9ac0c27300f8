// Writes the lines from Baton to an agent (agent-cards/LINE-PROTOCOL.md). Each is one JSON object
// with a line end.
//
// Messages, parts and artifacts are in the JSON shape of A2A 1.0. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "agents/executor.h"

namespace baton::agents::line {

// The version of the line protocol that Baton speaks.
inline constexpr int kProtocol = 1;

// `resume_ask`: Turn::resume_ask under the agent's own name for it.
std::string encode_turn(const Turn& turn, std::string_view resume_ask);
std::string encode_cancel(std::string_view turn);
std::string encode_tool_result(std::string_view turn, const task::ToolResult& result);
std::string encode_delegate_result(std::string_view turn, const DelegateResult& result);

}  // namespace baton::agents::line
