// Part links: an answer that would be too large carries links to its largest parts instead of their content.
//
// Threads: pure.
#pragma once

#include <span>
#include <string>

#include "task/task.h"

namespace baton::task {

// Replaces the largest parts of the tasks' artifacts and messages by URL parts until the JSON of all tasks is
// at most about `bytes_max`. Parts of up to a few KiB are not replaced. `agent_url` is the base URL of the
// agent's tasks in REST; a link is <agent_url>/tasks/<task>/artifacts/<artifact>/parts/<n> or
// <agent_url>/tasks/<task>/messages/<message>/parts/<n>, with n from 0. A part keeps its media type, file
// name and metadata.
void link_large_parts(std::span<Task> tasks, std::size_t bytes_max, const std::string& agent_url);

}  // namespace baton::task
