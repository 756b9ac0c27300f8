// The card that this server shows for a remote agent.
#pragma once

#include "task/card.h"

namespace baton::agents {

// The card in the agent's folder, completed with what its author has left out: description, version, modes
// and skills are the remote agent's. Nothing in the remote card is trusted: its texts are cut, its lists
// bounded. Its URLs, security schemes, capabilities and extensions are not passed on, as they are not ours.
// Pure.
task::AgentCard shown_card(const task::AgentCard& own, const task::AgentCard& remote);

}  // namespace baton::agents
