// The executor of kToolAgent: a task is one call of an MCP tool for a model's turn, whose child it is.
//
// So a call is stored before it is made, its result is found again after a crash, and it has its parent's
// cancels and budgets. After a crash a call is made again only if the tool says that this does no harm;
// otherwise its task fails, because the outcome is unknown. A call that the server turns into a task of its
// own is a stored wait: each look at it is a turn. A question of the tool is the task's question, which its
// parent's caller answers.
//
// Its messages can name any tool of any card, so only models may delegate to this agent.
//
// Threads: turns are on the loop's thread.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/mcp/mcp_tools.h"
#include "base/clock.h"
#include "base/event_loop.h"

namespace baton::agents {

// All must outlive the executor and its turns.
std::unique_ptr<Executor> tool_executor(std::shared_ptr<const McpAgents> agents, base::EventLoop& loop,
                                        const base::Clock& clock);

}  // namespace baton::agents
