// The executor `ag-ui`: an agent that is an AG-UI endpoint elsewhere.
//
// One turn of an AG-UI endpoint: one run there, whose thread is the context. If the answer has several runs,
// as AG-UI's own clients allow, their output is the turn's, and the last one decides how the turn ends.
//
// The run has the same id and content in each attempt, but AG-UI cannot resume a run: a stream that ends
// before the run does is a lost connection, and the card's `on_unknown` decides what happens then. If the
// run is repeated, its output so far is withdrawn (BrokenOff). Requests to a server that is busy or was
// not reached are retried. The only way to cancel a run is to close the connection.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/loop_turn.h"
#include "agents/settings.h"
#include "outbound/rules.h"

namespace baton::agents {

// The services must outlive the executor and its turns.
std::unique_ptr<Executor> agui_executor(const LoopServices& services, const AgentSettings& settings,
                                        const outbound::Rules& rules);

}  // namespace baton::agents
