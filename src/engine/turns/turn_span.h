// The spans of the engine: of turns, and of the submission of children.
//
// Threads: any; pure but for the queue.
#pragma once

#include "base/span.h"
#include "engine/read/task_reader.h"
#include "engine/turns/running_turn.h"

namespace baton::engine {

// Adds the span of a turn that is over. Its id is the one that the turn's own requests carried
// (agents::Turn::trace). A task of several turns has no span of its own: the spans of later turns link to the
// first. `head`: the task's, as the turn has left it.
void add_turn_span(base::SpanQueue& spans, const RunningTurn& run, const task::TaskHead& head);

// Sets the trace of the task's first message in a sampled turn, unless it is the first turn. Reads the store.
void link_to_first(RunningTurn& run, const task::TaskHead& head, const TaskReader& reader);

// Adds the span of a child's submission. `error`: why it failed; empty if it did not.
void add_child_span(base::SpanTimer& timer, const std::string& agent, const task::TaskId& child,
                    std::string error);

}  // namespace baton::engine
