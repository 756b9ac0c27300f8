// The executor `openai`: an agent that is a language model behind any server that speaks OpenAI's chat
// completions.
//
// One turn of a language model: asks it, has the tools that it calls run, and asks it again, until it answers
// without a call.
//
// Servers that are busy are asked again until the turn's deadline, and ones that cannot be reached for a
// short time. An answer that breaks off is asked for again a few times in a turn; if the caller has seen a
// part of it, the turn is broken off (BrokenOff), so that what was shown is withdrawn. Another attempt says
// again what was said before the last tool calls, and goes on after them (kept_rounds.h). A tool is another
// agent, whose child task's answer goes back to the model, or the client's, whose call ends the turn: the
// next one goes on with the result.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/outbound/outbound.h"
#include "agents/settings.h"
#include "base/worker_pool.h"

namespace baton::agents {

// `pool`: a thread for each turn that runs; it must outlive the executor.
std::unique_ptr<Executor> model_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                         const OutboundRules& rules);

}  // namespace baton::agents
