// One turn of a remote agent.
//
// A turn is one task there, or the next message of one. Before anything is told, the log keeps which task
// that is (task::ExecutorState), so that another attempt takes it up: it subscribes, and where the other side
// numbers its events hears them all again. A lost connection never ends a turn. A message that may have
// arrived is sent again only where that is safe: it has the same id in every attempt, by which Batons
// recognise it, as do agents of 0.1 by the task's. Elsewhere the card's `on_unknown` decides.
#pragma once

#include "agents/function_executor.h"
#include "agents/remote/remote_interfaces.h"
#include "agents/settings.h"

namespace baton::agents {

// Blocks until the turn is over.
void run_remote_turn(const RemoteInterfaces& interfaces, const AgentSettings& settings, FunctionTurn& turn);

}  // namespace baton::agents
