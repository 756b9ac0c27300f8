// Finds the tasks of one caller by an id or a part of an id (task/short_id.h).
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

// Returns the caller's tasks at these agents with the id `named`. If there are none, returns at most
// kOwnTasksMax tasks whose ids `named` is a part of; parts shorter than task::kIdPartMin bytes match nothing.
// Tasks of other callers never affect the result. Tasks of the caller's tenants are not returned.
base::Result<std::vector<OwnTask>> own_tasks(engine::Engine& engine, const task::Caller& caller,
                                             const std::vector<task::AgentName>& agents,
                                             const std::string& named);

}  // namespace baton::server
