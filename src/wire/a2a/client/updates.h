// What a remote agent answers, in the vocabulary of task/: the same for every generation and binding.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "task/task.h"

namespace baton::wire::a2a {

struct StatusUpdate {
  task::TaskId task;
  task::ContextId context;
  task::Status status;
  bool final = false;  // 1.0 does not say
  task::Json metadata;
};

struct ArtifactUpdate {
  task::TaskId task;
  task::ContextId context;
  task::Artifact artifact;  // of 0.1 known by its ordinal, later by its id
  bool append = false;
  bool last_chunk = false;
};

// An answer without a task (0.2 and later): all there is.
struct Reply {
  task::TaskId task;  // mostly empty
  task::ContextId context;
  task::Message message;
};

// What one item of a stream says, or the answer to a send.
using Update = std::variant<StatusUpdate, ArtifactUpdate, task::Task, Reply>;

// One page of a list.
struct ListPage {
  std::vector<task::Task> tasks;
  std::string next_page_token;  // empty: the last page
  std::int64_t total = 0;       // on all pages
};

// Why a remote agent refused.
struct RemoteError {
  std::int64_t code = 0;  // the number of JSON-RPC and A2A; 0: none that is known
  std::string message;
  std::string detail;  // what exactly was wrong, where that is said apart
};
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kTaskNotFound = -32001;
inline constexpr std::int64_t kTaskNotCancelable = -32002;
inline constexpr std::int64_t kUnsupportedOperation = -32004;

}  // namespace baton::wire::a2a
