// Reads the question that a task shows, if a child asks it: its log and the child say what it is.
//
// Threads: any. Blocks on the disk.
#pragma once

#include "engine/decide/rules/child_questions.h"
#include "engine/read/task_reader.h"
#include "engine/turns/turn_log.h"

namespace baton::engine {

// Returns the log of the task's last turn.
base::Result<TurnLog> read_turn_log(const TaskReader& reader, const task::TaskHead& head);

// Returns the question that the parent's subagent asked with its event `number`, as the child is now.
base::Result<ChildQuestion> read_question(const TaskReader& reader, const task::TaskHead& parent,
                                          const task::Subagent& subagent, task::EventNumber number);

// Adds the question that the task shows, if a child asks it, to `questions`: where another node has the
// task's turn, this node does not know it.
base::Result<void> learn_question(const TaskReader& reader, task::TaskKey parent, ChildQuestions& questions);

}  // namespace baton::engine
