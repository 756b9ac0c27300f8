// The executor `ag-ui`: an agent that is an AG-UI endpoint elsewhere.
//
// One turn of an AG-UI endpoint: one run there, whose thread is the context.
//
// The run has the same id and content in each attempt, but AG-UI has no way to take a run up again: a stream
// that ends before the run does is a lost connection, and what happens then is the card's `on_unknown`. Where
// the run is made again, what was shown of it is withdrawn (BrokenOff). A server that was not reached, or was
// busy, is asked again. To hang up is the only cancel.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/outbound/outbound.h"
#include "agents/settings.h"
#include "base/worker_pool.h"

namespace baton::agents {

// `pool`: a thread for each turn that runs; it must outlive the executor.
std::unique_ptr<Executor> agui_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                        const OutboundRules& rules);

}  // namespace baton::agents
