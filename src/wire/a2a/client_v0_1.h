// A2A 0.1 as a client speaks it: requests written, answers and stream events read (VERSIONS: "G1").
//
// Reading is lenient where servers differ (a part's tag under `kind` or absent, an artifact's parts under
// `data`) and fails with invalid_argument and a text that names the member where sense cannot be made.
// Timestamps are not read. A state that A2A 1.0 does not have ("unknown") is read as failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "task/task.h"
#include "wire/json/document.h"

namespace baton::wire::v0_1_client {

// What goes into tasks/send and tasks/sendSubscribe.
struct SendParams {
  task::TaskId task;
  task::ContextId session;  // empty: the server makes one
  task::Message message;    // its id is not part of A2A 0.1
  std::optional<int> history;
  task::Json metadata;
};

std::string write_send(std::string_view method, std::int64_t request_id, const SendParams& params);
// tasks/get, tasks/cancel, tasks/resubscribe.
std::string write_task_request(std::string_view method, std::int64_t request_id, const task::TaskId& task,
                               std::optional<int> history = {});

struct RpcError {
  std::int64_t code = 0;
  std::string message;
};
inline constexpr std::int64_t kTaskNotFound = -32001;
inline constexpr std::int64_t kTaskNotCancelable = -32002;

// A JSON-RPC answer: exactly one of the two.
struct Answer {
  Value result;
  std::optional<RpcError> error;
};
base::Result<Answer> read_answer(Value answer);

struct StatusUpdate {
  task::TaskId task;
  task::Status status;
  bool final = false;
  task::Json metadata;
};
struct ArtifactUpdate {
  task::TaskId task;
  task::Artifact artifact;  // known by its ordinal; it has no id
  bool append = false;
  bool last_chunk = false;
};
// What one event of a stream says. A Task is what a subscription begins with.
using Update = std::variant<StatusUpdate, ArtifactUpdate, task::Task>;
base::Result<Update> read_update(Value result);

base::Result<task::Task> read_task(Value task);

}  // namespace baton::wire::v0_1_client
