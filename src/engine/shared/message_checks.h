// Checks of a message before it joins a task.
//
// Threads: any; pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "engine/shared/options.h"
#include "store/task_store.h"
#include "task/task.h"

namespace baton::engine {

// The error texts for an agent that the catalogue does not know, and for one that it no longer knows.
std::string not_served(const task::AgentName& agent);
std::string no_longer_served(const task::AgentName& agent);

// Fails with too_large unless the message fits into a task whose log holds `bytes` already.
base::Result<void> check_size(const task::Submission& submission, std::size_t bytes, std::size_t bytes_max);

// Fails with invalid_argument if the message has no parts; with too_large if it, or a message of the history
// that comes with it, has too many, or if one of its own parts is too large.
base::Result<void> check_parts(const task::Submission& submission, const EngineOptions& options);

// The name in hop lists of an agent of the server `node`.
std::string hop_of(const std::string& node, const task::AgentName& agent);
// Fails with invalid_argument if the request has come through this agent before, or through too many.
base::Result<void> check_hops(const task::Submission& submission, const std::string& node,
                              std::size_t hops_max);

// Checks whether an existing task takes the message: context, state, the question it answers, number of
// messages, size.
base::Result<void> check_task_accepts(const task::Submission& submission, const task::TaskHead& head,
                                      const EngineOptions& options);

// Whether the task's turn waits for the time that its send named.
bool is_delayed(const task::TaskHead& head);

// Whether the client accepts a media type that the agent offers, whatever the parameters of both. An empty
// list stands for any type, and both may have ranges such as "image/*".
bool any_mode_matches(const std::vector<std::string>& wanted, const std::vector<std::string>& offered);

}  // namespace baton::engine
