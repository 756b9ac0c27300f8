// One turn of a remote agent.
//
// A turn is one task there, or the next message of one. Before any output is passed on, the log keeps
// which task that is (task::ExecutorState), so that another attempt can resume it: it subscribes, and gets
// all events again if the other side numbers them. A lost connection never ends a turn. A message that may
// have arrived is sent again only where that is safe. It has the same id in every attempt: a Baton there
// recognises it by that id, and agents of 0.1 by the task's id. Elsewhere the card's `on_unknown` decides.
#pragma once

#include "agents/function_executor.h"
#include "agents/remote/remote_interfaces.h"
#include "agents/settings.h"

namespace baton::agents {

// Blocks until the turn is over.
void run_remote_turn(const RemoteInterfaces& interfaces, const AgentSettings& settings, FunctionTurn& turn);

}  // namespace baton::agents
