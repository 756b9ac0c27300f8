// The executors of all kinds of agents.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/command/process_host.h"
#include "agents/loop_turn.h"
#include "agents/mcp/mcp_tools.h"
#include "agents/plan/workflow_executor.h"
#include "base/clock.h"
#include "base/worker_pool.h"
#include "outbound/rules.h"

namespace baton::app {

// The dependencies of executors. All must outlive the catalogue.
struct ExecutorServices {
  agents::ProcessHost& processes;
  base::WorkerPool& callers;  // see agents::RemoteServices
  agents::LoopServices turns;
  outbound::Rules outbound;
  const base::Clock& clock;
  agents::ChooseAgent choose;  // looks in the catalogue that is being built
  agents::PlanOptions plans = {};
  std::shared_ptr<agents::McpAgents> tools = std::make_shared<agents::McpAgents>();  // shared by executors
};

agents::Catalogue::Make executors(const ExecutorServices& services);

// Adds the agents that have no folder. `delegate_urls`: see agents::CommonRules.
void add_hidden_agents(agents::Catalogue& catalogue, const ExecutorServices& services,
                       const std::vector<std::string>& delegate_urls);

}  // namespace baton::app
