// Questions of Baton's own to a caller: a turn needs the caller's access token, or its consent
// (outbound::CallerAsk). The caller's answer begins another turn, which does the work of the turn that asked.
//
// Threads: any; pure.
#pragma once

#include "agents/executor.h"
#include "outbound/credentials.h"

namespace baton::agents {

// The end of the turn: the question, whose id has what the next turn needs. A caller that no authorization
// server knows cannot answer it, so its turn fails. `kept`: the state that the executor then finds in
// Turn::kept; absent: none.
Outcome ask_caller(const Turn& turn, const outbound::CallerAsk& ask, const task::Json& kept = {});

// If the turn answers such a question, gives it the message and the history of the turn that asked.
void take_up(Turn& turn);

}  // namespace baton::agents
