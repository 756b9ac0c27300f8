// What the log keeps of a model's turn for another attempt at it: which tools the model has called. The
// results are those of the children, which delegating anew under the same names brings back; so the model is
// not asked twice for what it has decided, and no child is made twice.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "protocol/openai/request.h"
#include "task/event.h"

namespace baton::agents {

// An answer of the model with calls of agents.
struct ModelRound {
  std::string text;
  std::vector<protocol::openai::CalledTool> calls;
};

struct KeptRounds {
  int breaks = 0;  // answers of the turn that broke off
  std::vector<ModelRound> rounds;
};

// Rounds that take too much room together are not kept: another attempt begins without them.
task::ExecutorState state_of(const KeptRounds& kept);
KeptRounds read_kept_rounds(const task::Json& state);

}  // namespace baton::agents
