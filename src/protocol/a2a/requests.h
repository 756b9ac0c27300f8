// Requests of A2A as values, the same for every version and binding.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "protocol/a2a/baton_extension.h"
#include "task/task.h"

namespace baton::protocol::a2a {

// The operations of A2A, in any version and binding.
enum class Operation {
  send,
  send_stream,
  get,
  list,
  cancel,
  subscribe,
  set_push,
  get_push,
  list_push,
  delete_push,
  extended_card,
  artifact_bytes,
  message_bytes,
  task_tree,
  task_log,
  plan_picture,
};
constexpr bool answers_with_stream(Operation operation) {
  return operation == Operation::send_stream || operation == Operation::subscribe;
}

// A send. The submission's caller and agent stay empty.
struct SendRequest {
  task::Submission submission;
  std::optional<bool> waits;              // wait for the task to stop; absent: as the agent's card says
  std::optional<int> history_length = 0;  // of the answer, as in task::Depth: absent means all
  NumbersWish numbers;
};

// Get, cancel, subscribe, and the views of a task.
struct TaskRequest {
  task::TaskId id;
  std::optional<int> history_length = 0;
  bool says_history = false;  // historyLength was given; set only by TaggedDialect
  // metadata.lastEventId, for clients that cannot set a Last-Event-ID header; `after` of a log.
  std::optional<task::EventNumber> last_event;
  NumbersWish numbers;
};

// A list. The filter's caller and agent stay empty.
struct ListRequest {
  task::ListFilter filter;
  task::Depth depth;
};

struct PushRequest {
  task::TaskId task;        // empty in REST, where the path has it
  task::PushConfig config;  // with its version; without an id if Baton must generate one
};

// Get, list and delete of push configs.
struct PushRef {
  task::TaskId task;
  task::PushConfigId config;  // empty: the first config (get), or ignored (list)
  // For a list: the page size, where 0 means all, and the place of the page; empty means the first page.
  int page_size = 0;
  std::string page_token = {};
};

// The bytes of an artifact or a message, or of one of its parts.
struct ContentRequest {
  task::TaskId task;
  std::string id;                   // the artifact's or the message's
  std::optional<std::size_t> part;  // empty: all
};

}  // namespace baton::protocol::a2a
