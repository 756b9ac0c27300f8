// A task's request and result in the few words that a row of a list has room for.
//
// Threads: any; no state. Blocks on the disk.
#pragma once

#include <string>

#include "engine/read/task_reader.h"
#include "task/head.h"

namespace baton::server::operate {

struct RowWords {
  std::string request;  // the caller's first message
  std::string result;   // of a completed task: its reply, or its first artifact
};

// Reads only the first and the last events of the log, so a result in the middle of a long log is not found.
// Parts without text are named. Empty if the log cannot be read.
RowWords words_of(const engine::TaskReader& reader, const task::TaskHead& head);

}  // namespace baton::server::operate
