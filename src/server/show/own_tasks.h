// Finds the tasks of one caller by an id, or by a part of one (task/short_id.h).
//
// Threads: any. Reads the store, for kOwnTasksTime at most.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"

namespace baton::server {

inline constexpr std::chrono::milliseconds kOwnTasksTime{100};
inline constexpr std::size_t kOwnTasksMax = 10;

struct OwnTask {
  task::AgentName agent;
  task::TaskId id;
};

// The caller's tasks with this id at these agents; if there are none, those whose ids `named` is a part of,
// at most kOwnTasksMax of them. A part of fewer than task::kIdPartMin bytes finds nothing. Only the caller's
// own tasks are looked at, or change the result.
base::Result<std::vector<OwnTask>> own_tasks(engine::Engine& engine, const task::Caller& caller,
                                             const std::vector<task::AgentName>& agents,
                                             const std::string& named);

}  // namespace baton::server
