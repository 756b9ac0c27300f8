// Archive: tasks as JSON lines, exported from one database and imported into another. Each line is an object
// with one member:
//
//   {"baton": 1}                                 the first: the version of this format
//   {"task": {"key", "parent"?, "context"?, "metadata"?, "schedule"?, "title"?, ...}}
//                                                its head, as in TaskHead
//   {"event": {"task", "number", "kind", "at_ms", "body"}}      `body` as event_codec writes it
//   {"request": {"task", "number", ...}}         the data that came with a message (task::RequestData)
//   {"webhook": {"task", ...}}                   a push config, with its credentials
//
// A task's lines stand together, and parents come before children. Tasks with a turn are not exported,
// because they would run twice. Deliveries and sends are not exported either. Threads: any. Blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace baton::store::sqlite {

// Selects tasks. Empty fields let all tasks pass. Tasks below a selected task are selected too.
struct ArchiveFilter {
  std::string task, agent, caller, context;
};

struct Archived {
  std::int64_t tasks = 0;
  std::int64_t unfinished = 0;  // selected tasks that were left out
};

// Calls `write` with each line, without the newline. Stops and fails with unavailable if `write` returns
// false. Fails as open_newest does.
base::Result<Archived> export_tasks(const std::string& database, const ArchiveFilter& filter,
                                    const std::function<bool(const std::string&)>& write);

// Adds the tasks of the lines that `next` returns, until it returns nullopt. Adds all or none of them. Public
// ids are kept, keys are new. Creates the database if it does not exist. Fails with already_exists (a task
// exists, or a server uses the database) or invalid_argument (a line that no export has written; the message
// gives its number).
base::Result<Archived> import_tasks(const std::string& database, const base::Clock& clock,
                                    const std::function<std::optional<std::string>()>& next);

}  // namespace baton::store::sqlite
