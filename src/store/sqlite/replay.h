// Replay: prepares a copy of a database so that a turn of one task waits to run again, for debugging an
// agent. The task and its conversation are reset to the state when the turn's message arrived. A server that
// runs on the copy without schedules (engine.schedules) runs nothing else and calls no webhook.
//
// Threads: any. Blocks.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "task/head.h"

namespace baton::store::sqlite {

struct ReplayChoice {
  std::string task;   // its public id, or a part of it (task/short_id.h)
  std::string agent;  // may be empty if only one task has that id
  int turn = 0;       // the number of its message, from 1; 0: the last
};

struct ReplayedTurn {
  task::TaskId task;
  task::AgentName agent;
  task::EventNumber message;  // the last event of the shortened log
  int turn = 0, turns = 0;    // the number of the turn, and how many there were
};

// `copy`: a database that is not in use. The task becomes the anonymous caller's. Fails with not_found or
// invalid_argument, whose texts name the possible choices.
base::Result<ReplayedTurn> prepare_replay(const std::string& copy, const ReplayChoice& choice,
                                          const base::Clock& clock);

}  // namespace baton::store::sqlite
