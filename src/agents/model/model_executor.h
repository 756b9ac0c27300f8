// The executor `openai`: an agent that is a language model behind any server that speaks OpenAI's chat
// completions.
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
