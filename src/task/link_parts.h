// Links in place of large content: an answer that would be too large shows where its largest parts are to be
// fetched instead of the parts themselves.
//
// Threads: pure.
#pragma once

#include <span>
#include <string>

#include "task/task.h"

namespace baton::task {

// Turns the largest parts of the tasks' artifacts and messages into URL parts until all of it, as JSON, holds
// at most about `bytes_max`. Parts of a few KiB stay as they are. `agent_url` is where the agent's tasks are
// served over REST; a link is <agent_url>/tasks/<task>/artifacts/<artifact>/parts/<n> or
// <agent_url>/tasks/<task>/messages/<message>/parts/<n>, with n from 0. Media type, file name and metadata of
// a part stay.
void link_large_parts(std::span<Task> tasks, std::size_t bytes_max, const std::string& agent_url);

}  // namespace baton::task
