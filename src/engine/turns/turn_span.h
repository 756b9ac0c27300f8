// The spans of the engine: of turns, and of the submission of children.
//
// Threads: any; pure but for the queue.
#pragma once

#include "base/span.h"
#include "engine/read/task_reader.h"
#include "engine/turns/running_turn.h"

namespace baton::engine {

// Adds the span of a turn that is over. Its id is the one that all it asked of others was told
// (agents::Turn::trace). A task of several turns has no span of its own: the later ones refer to the first.
// `head`: the task's, as the turn has left it.
void add_turn_span(base::SpanQueue& spans, const RunningTurn& run, const task::TaskHead& head);

// Has the turn remember the trace that its task's first message came with, if it is sampled and a later one.
// Reads the store.
void link_to_first(RunningTurn& run, const task::TaskHead& head, const TaskReader& reader);

// A child of this turn was submitted, or could not be: `error` says why, if so.
void add_child_span(base::SpanTimer& timer, const std::string& agent, const task::TaskId& child,
                    std::string error);

}  // namespace baton::engine
