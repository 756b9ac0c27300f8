// One turn of an AG-UI endpoint: one run there, whose thread is the context.
//
// The run has the same id and content in each attempt, but AG-UI has no way to take a run up again: a stream
// that ends before the run does is a lost connection, and what happens then is the card's `on_unknown`. Where
// the run is made again, what was shown of it is withdrawn (BrokenOff). A server that was not reached, or was
// busy, is asked again. To hang up is the only cancel.
#pragma once

#include "agents/function_executor.h"
#include "agents/outbound/credentials.h"
#include "agents/outbound/outbound.h"
#include "agents/settings.h"

namespace baton::agents {

// Blocks until the turn is over.
void run_agui_turn(const AgentSettings& settings, const OutboundRules& rules, Credentials& credentials,
                   FunctionTurn& turn);

}  // namespace baton::agents
