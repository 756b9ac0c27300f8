// The executor `workflow`: an agent that is a plan over other agents. Its turns are short: each records
// new results, begins the steps that may begin now, and ends. It holds nothing while it waits: the state
// of the run is in the task's log.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/plan/plan_memory.h"
#include "agents/plan/plan_run.h"
#include "agents/settings.h"
#include "base/clock.h"

namespace baton::agents {

// The settings of plans.
struct PlanOptions {
  std::size_t fill_max = 16 << 20;               // see PlanLimits
  std::size_t kept_max = 64 << 20;               // see PlanMemories
  std::chrono::milliseconds undo_grace{60'000};  // see PlanRun
};

// `clock` must outlive the executor. `choose` may be called from any thread. `memories` may serve several
// executors. Unlike with other executors, a turn is over when `start` returns: `start` blocks on the disk,
// and its computing time depends on the plan and its values.
std::unique_ptr<Executor> workflow_executor(const AgentSettings& settings, const base::Clock& clock,
                                            ChooseAgent choose, const PlanOptions& options,
                                            std::shared_ptr<PlanMemories> memories);

// The agent that asks the questions of plans: it asks its caller the question in its message, and its
// result is the caller's answer. `for_auth`: asks for an authorisation.
std::unique_ptr<Executor> ask_executor(bool for_auth);

}  // namespace baton::agents
