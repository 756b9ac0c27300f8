// Reads the child's question that a task shows, from the task's log and the child.
//
// Threads: any. Blocks on the disk.
#pragma once

#include "engine/decide/rules/child_questions.h"
#include "engine/read/task_reader.h"
#include "engine/turns/turn_log.h"

namespace baton::engine {

// Returns the log of the task's last turn.
base::Result<TurnLog> read_turn_log(const TaskReader& reader, const task::TaskHead& head);

// Returns the question that the parent's subagent asked with its event `number`, with the child's present
// status.
base::Result<ChildQuestion> read_question(const TaskReader& reader, const task::TaskHead& parent,
                                          const task::Subagent& subagent, task::EventNumber number);

// Adds the child's question that the task shows, if any, to `questions`. Needed if another node has the
// task's turn, because this node does not know the question then.
base::Result<void> learn_question(const TaskReader& reader, task::TaskKey parent, ChildQuestions& questions);

}  // namespace baton::engine
