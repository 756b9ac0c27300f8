// The executors of all kinds of agents.
#pragma once

#include <string>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/command/process_host.h"
#include "agents/outbound/outbound.h"
#include "agents/plan/workflow_executor.h"
#include "base/clock.h"
#include "base/worker_pool.h"

namespace baton::app {

// What executors use. All outlive the catalogue.
struct ExecutorServices {
  agents::ProcessHost& processes;
  base::WorkerPool& callers;  // threads for turns that wait for an agent elsewhere: one for each
  agents::OutboundRules outbound;
  const base::Clock& clock;
  agents::ChooseAgent choose;  // of the catalogue that is being made
  agents::PlanOptions plans = {};
};

agents::Catalogue::Make executors(const ExecutorServices& services);

// Adds the agents that are not in any folder. `delegate_urls`: see agents::CommonRules.
void add_hidden_agents(agents::Catalogue& catalogue, const ExecutorServices& services,
                       const std::vector<std::string>& delegate_urls);

}  // namespace baton::app
