// The executor `a2a`: runs turns at an A2A agent elsewhere, of any version and transport.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/remote/remote_interfaces.h"
#include "agents/settings.h"
#include "base/worker_pool.h"

namespace baton::agents {

// `pool`: a thread for each turn that runs; it must outlive the executor. `card`: the one in its folder.
std::unique_ptr<Executor> remote_executor(base::WorkerPool& pool, const task::AgentCard& card,
                                          const AgentSettings& settings, outbound::Rules rules);

// An executor for many agents: each turn goes to the URL that is its agent's name. The interfaces of the
// 64 agents that were used last are kept.
std::unique_ptr<Executor> url_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                       outbound::Rules rules);

}  // namespace baton::agents
