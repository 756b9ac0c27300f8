// BeginSchedule: makes the hidden task that marks when an agent's schedule was first seen. Pure; the store
// refuses with already_exists if another node has made it.
#pragma once

#include "base/clock.h"
#include "store/task_store.h"
#include "task/change.h"

namespace baton::engine {

struct BeginSchedule {
  task::TaskRef mark;
  const base::Clock& clock;
  task::TaskKey task = {};  // a new one

  base::Result<task::Change> decide(const store::TaskRow&) const {
    task::Change change;
    task::NewTask& made = change.create.emplace();
    made.id = mark.id;
    made.agent = mark.agent;
    made.caller = mark.caller;
    made.context = {mark.id.value};
    made.hidden = true;
    change.events.push_back(task::StatusChanged{{task::State::submitted, std::nullopt, clock.now()}, {}});
    return change;
  }
};

}  // namespace baton::engine
