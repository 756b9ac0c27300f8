// The result of a child task, as the steps of a plan refer to it. Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "task/task.h"

namespace baton::agents {

// The first data part; null if there is none.
const task::Part* first_data(const std::vector<task::Part>& parts);
std::vector<task::Part> without_text(std::vector<task::Part> parts);

// The text of a task's artifacts, or else of its last message.
std::string text_of_result(const task::Task& task);
task::Json data_of_result(const task::Task& task);
// Its parts that are not text, named after their artifacts.
std::vector<task::Part> files_of_result(const task::Task& task);

}  // namespace baton::agents
