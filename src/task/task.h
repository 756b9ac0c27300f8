// Task as a reader sees it, and the requests callers make of it.
#pragma once

#include <optional>
#include <vector>

#include "task/event.h"
#include "task/ids.h"

namespace baton::task {

// Which family of A2A a caller or a webhook speaks: it decides shapes in wire/, never rules in engine/.
enum class Generation { v0_1, v0_2, v0_3, v1_0 };

struct Task {
  TaskId id;
  ContextId context;
  Status status;
  std::vector<Artifact> artifacts;
  std::vector<Message> history;  // as much of its end as was asked for
  Json metadata;
  EventNumber last_event;  // the log up to here is what this value shows
};

// Where a task's status changes are to be sent.
struct PushConfig {
  PushConfigId id;
  std::string url;
  std::string token;
  std::vector<std::string> schemes;
  std::string credentials;
  Json authentication_extra;  // the whole `authentication` object of A2A 0.1, for its further members
  Generation generation = Generation::v1_0;
};

// A task as one caller may name it: ids are unique for a caller and an agent.
struct TaskRef {
  Caller caller;
  AgentName agent;
  TaskId id;
};

// What a send to a task that has ended does.
enum class WhenEnded { refuse, reopen };
// What a send to a task id that is unknown does.
enum class WhenUnknown { refuse, create };

// A message for an agent: a new task, an answer, or more work for a task.
struct Submission {
  Caller caller;
  AgentName agent;
  TaskId task;        // empty: a new task whose id Baton makes
  ContextId context;  // empty: the task's own, or a new one
  Message message;
  Json metadata;  // of the request; becomes the metadata of a new task
  Json tools;     // the client's tools, a list; absent where the protocol has none
  Json state;     // the client's shared state
  std::optional<PushConfig> push;
  std::vector<std::string> accepted_output_modes;  // empty: any
  WhenUnknown when_unknown = WhenUnknown::refuse;
  WhenEnded when_ended = WhenEnded::refuse;
};

// How much of a task a reader wants.
struct Depth {
  // The last so many messages; nothing means all.
  std::optional<int> history = 0;
  bool artifacts = true;
};

}  // namespace baton::task
