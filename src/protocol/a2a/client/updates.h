// Answers of a remote agent in the vocabulary of task/, the same for every version and binding.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "task/task.h"

namespace baton::protocol::a2a {

struct StatusUpdate {
  task::TaskId task;
  task::ContextId context;
  task::Status status;
  bool final = false;  // 1.0 does not send it
  task::Json metadata;
};

struct ArtifactUpdate {
  task::TaskId task;
  task::ContextId context;
  task::Artifact artifact;  // identified by its ordinal in 0.1, by its id later
  bool append = false;
  bool last_chunk = false;
};

// A message in place of a task, as the whole answer (0.2 and later).
struct MessageReply {
  task::TaskId task;  // mostly empty
  task::ContextId context;
  task::Message message;
};

// An item of a stream, or the answer to a send.
using Update = std::variant<StatusUpdate, ArtifactUpdate, task::Task, MessageReply>;

// One page of a list.
struct TaskPage {
  std::vector<task::Task> tasks;
  std::string next_page_token;  // empty: the last page
  std::int64_t total = 0;       // on all pages
};

// An error that a remote agent answered.
struct RemoteError {
  std::int64_t code = 0;  // the error number of JSON-RPC or A2A; 0: unknown
  std::string message;    // at most 4 KiB, as is `detail`
  std::string detail;     // the exact cause, if given separately
};
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kTaskNotFound = -32001;
inline constexpr std::int64_t kTaskNotCancelable = -32002;
inline constexpr std::int64_t kUnsupportedOperation = -32004;
inline constexpr std::int64_t kVersionNotSupported = -32009;

}  // namespace baton::protocol::a2a
