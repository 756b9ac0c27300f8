// Checks of a message before it joins a task.
//
// Threads: any; pure.
#pragma once

#include "base/error.h"
#include "engine/options.h"
#include "store/task_store.h"
#include "task/task.h"

namespace baton::engine {

// Fails with too_large unless the message fits into a task whose log holds `bytes` already.
base::Result<void> check_size(const task::Submission& submission, std::size_t bytes, std::size_t bytes_max);

// Checks whether an existing task takes the message: context, state, the question it answers, number of
// messages, size.
base::Result<void> check_going_on(const task::Submission& submission, const task::TaskHead& head,
                                  const EngineOptions& options);

}  // namespace baton::engine
