// The tool calls of a model's turn, kept in the log for another attempt. Delegating again with the same
// ids brings back the results of the children. So the model is not asked again for decisions that it has
// made, and no child is made twice.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/models/shared/conversation.h"
#include "task/event.h"

namespace baton::agents {

// An answer of the model that calls agents.
struct ModelRound {
  std::string text;
  std::vector<protocol::models::CalledTool> calls;
  task::Json others = {};  // see ChatMessage
};

// The bytes of the round's calls and of the members to give back.
std::size_t bytes_beside_text(const ModelRound& round);

struct KeptRounds {
  int breaks = 0;  // answers of the turn that broke off
  std::vector<ModelRound> rounds;
};

// Keeps the first rounds that have room together. Another attempt continues after these.
task::ExecutorState state_of(const KeptRounds& kept);
KeptRounds read_kept_rounds(const task::Json& state);

}  // namespace baton::agents
