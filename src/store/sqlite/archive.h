// Archive: tasks as JSON lines, out of one database and into another. Each line is an object with one member:
//
//   {"baton": 1}                                 the first: the version of this format
//   {"task": {"key", "parent"?, "context"?, "metadata"?, "title"?, ...}}   its head, as TaskHead has it
//   {"event": {"task", "number", "kind", "at_ms", "body"}}      `body` as event_codec writes it
//   {"request": {"task", "number", ...}}         what came with a message (task::RequestData)
//   {"webhook": {"task", ...}}                   a push config, with its credentials
//
// A task's lines stand together, and parents before children. Tasks with a turn stay where they are, as they
// would run twice, and so do deliveries and sends. Threads: any. Blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace baton::store::sqlite {

// Fields that are empty let all pass. What stands below a task goes with it.
struct ArchiveFilter {
  std::string task, agent, caller, context;
};

struct Archived {
  std::int64_t tasks = 0;
  std::int64_t unfinished = 0;  // chosen, and left out
};

// Calls `write` with each line, without its end; stops and fails with unavailable if that returns false.
// Fails as open_newest does.
base::Result<Archived> export_tasks(const std::string& database, const ArchiveFilter& filter,
                                    const std::function<bool(const std::string&)>& write);

// Adds the tasks of the lines that `next` returns, up to nothing, all or none of them: public ids are kept,
// keys are new. The database is made if it is not there. Fails with already_exists (a task is there, or a
// server uses the database), invalid_argument (what no export has written; says which line).
base::Result<Archived> import_tasks(const std::string& database, const base::Clock& clock,
                                    const std::function<std::optional<std::string>()>& next);

}  // namespace baton::store::sqlite
