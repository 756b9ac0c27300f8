// Replay: makes of a copy of a database one in which a turn of one task waits to run again, for whoever looks
// for a fault in an agent. Of the task and its conversation it has what there was when the turn's message
// came. A server of it that takes no schedules (engine.schedules) runs nothing else and calls no webhook.
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
  std::string agent;  // empty: there is one task of that id
  int turn = 0;       // by its message, the first one is 1; 0: the last
};

struct ReplayedTurn {
  task::TaskId task;
  task::AgentName agent;
  task::EventNumber message;  // the last event that is left
  int turn = 0, turns = 0;    // which one it is, of so many
};

// `copy`: a database that nobody uses. The task becomes the anonymous caller's. Fails with not_found or
// invalid_argument, which say what there is.
base::Result<ReplayedTurn> prepare_replay(const std::string& copy, const ReplayChoice& choice,
                                          const base::Clock& clock);

}  // namespace baton::store::sqlite
