// The executor `a2a`: runs turns at an A2A agent elsewhere, of any version and transport.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/remote/remote_turn.h"
#include "agents/settings.h"

namespace baton::agents {

// The services must outlive the executor and its turns. `card`: the one in its folder.
std::unique_ptr<Executor> remote_executor(const RemoteServices& services, const task::AgentCard& card,
                                          const AgentSettings& settings, outbound::Rules rules);

// An executor for many agents: each turn goes to the URL that is its agent's name. The interfaces of the
// 64 agents that were used last are kept.
std::unique_ptr<Executor> url_executor(const RemoteServices& services, const AgentSettings& settings,
                                       outbound::Rules rules);

}  // namespace baton::agents
