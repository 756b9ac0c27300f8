// The executor `workflow`: an agent that is a plan over other agents. Its turns are short: each takes in what
// has happened, begins what may begin now and waits, holding nothing. What it knows is in the task's log.
#pragma once

#include <memory>

#include "agents/executor.h"
#include "agents/settings.h"
#include "agents/workflow/plan_run.h"
#include "base/clock.h"

namespace baton::agents {

// `clock` must outlive the executor. `choose` may be called from any thread.
std::unique_ptr<Executor> workflow_executor(const AgentSettings& settings, const base::Clock& clock,
                                            ChooseAgent choose);

// The agent to which a plan delegates its questions: asks its caller what it was told, and answers with the
// answer. `for_auth`: asks for an authorisation.
std::unique_ptr<Executor> ask_executor(bool for_auth);

}  // namespace baton::agents
