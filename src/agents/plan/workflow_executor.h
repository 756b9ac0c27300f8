// The executor `workflow`: an agent that is a plan over other agents. Its turns are short: each takes in what
// has happened, begins what may begin now and waits, holding nothing. What it knows is in the task's log.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/plan/plan_memory.h"
#include "agents/plan/plan_run.h"
#include "agents/settings.h"
#include "base/clock.h"

namespace baton::agents {

// What an operator may configure about plans.
struct PlanOptions {
  std::size_t fill_max = 16 << 20;               // see PlanLimits
  std::size_t kept_max = 64 << 20;               // see PlanMemories
  std::chrono::milliseconds undo_grace{60'000};  // see PlanRun
};

// `clock` must outlive the executor. `choose` may be called from any thread. `memories` may serve several
// executors. Unlike other executors', its turns are over when `start` returns: that blocks on the disk, and
// computes as long as the plan and its values have it do.
std::unique_ptr<Executor> workflow_executor(const AgentSettings& settings, const base::Clock& clock,
                                            ChooseAgent choose, const PlanOptions& options,
                                            std::shared_ptr<PlanMemories> memories);

// The agent to which a plan delegates its questions: asks its caller what it was told, and answers with the
// answer. `for_auth`: asks for an authorisation.
std::unique_ptr<Executor> ask_executor(bool for_auth);

}  // namespace baton::agents
