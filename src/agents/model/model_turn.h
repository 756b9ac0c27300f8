// The executor `openai`: an agent that is a language model behind any server that speaks one of the APIs of
// protocol/models/.
//
// One turn of a language model: asks it, runs the tools that it calls, and asks it again, until it answers
// without a call.
//
// Busy servers are asked again until the turn's deadline, unreachable ones only for a short time. An
// answer that breaks off is requested again a few times in a turn; if the caller has seen a part of it,
// the turn is broken off (BrokenOff), which withdraws the output shown. Another attempt repeats the text
// before the last tool calls, and continues after them (kept_rounds.h). A tool is another agent or a tool of
// an MCP server (mcp_turn.h), whose child task's answer is sent back to the model, or a client tool, whose
// call ends the turn: the next turn continues with the result. The servers' tools are listed for each turn.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/model/model_call.h"
#include "agents/settings.h"
#include "outbound/rules.h"

namespace baton::agents {

// The services must outlive the executor and its turns. `tools`: the card's servers of tools; null: none.
std::unique_ptr<Executor> model_executor(const LoopServices& services, const AgentSettings& settings,
                                         const outbound::Rules& rules,
                                         std::shared_ptr<const McpServers> tools = nullptr);

}  // namespace baton::agents
