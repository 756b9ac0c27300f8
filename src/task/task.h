// Task as a reader sees it, and the requests callers make of it.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "task/event.h"
#include "task/ids.h"

namespace baton::task {

// Which family of A2A a caller or a webhook speaks, or that a caller speaks another protocol.
enum class Generation { v0_1, v0_2, v0_3, v1_0, none };

struct Task {
  TaskId id;
  ContextId context;
  Status status;
  std::vector<Artifact> artifacts;
  std::vector<Message> history;  // as much of its end as was asked for
  Json metadata;
  Generation origin = Generation::v1_0;  // of the client that made it
  EventNumber last_event;                // the log up to here is what this value shows
  bool hidden = false;                   // callers see no task: it is answered by a message alone
};

// About what it holds in memory, in bytes.
std::size_t weight_of(const Task& task);

// Where a task's status changes are to be sent.
struct PushConfig {
  PushConfigId id;
  std::string url;
  std::string token;
  std::vector<std::string> schemes;
  std::string credentials;
  Json authentication_extra;  // the whole `authentication` object of A2A 0.1, for its further members
  Generation generation = Generation::v1_0;
  // Why the last attempt at a delivery failed; empty if it did not. Read only: it is not stored with the
  // config.
  std::string last_error = {};
};

// The id of a config that came without one. A 1.0 client is told which it got; those before do not look:
// they mean the same config of the task each time.
PushConfigId id_for_unnamed(const PushConfig& config, const TaskId& task);

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
// What a send to a task with a context that is not the task's own does.
enum class WhenContextDiffers { refuse, ignore };

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
  // What was said before, from a client that keeps the conversation itself; nothing: as Baton has it.
  std::optional<std::vector<Message>> history;
  // The client's own name for this request, unique in the context. A second request of the same name is its
  // repetition, whatever it holds. Empty: the message's id and content decide (README, promise 6).
  std::string name;
  // The ask that this message answers: refused as `conflict` unless the task waits for it. Empty: whatever
  // the task waits for, if it does.
  std::string ask;
  // A new task may be answered by a message alone, and is hidden while that is possible (Task::hidden).
  bool may_be_message = false;
  // Without a task it answers the only task of its context that waits for input, if there is just one.
  bool answers_context = false;
  std::optional<PushConfig> push;
  std::vector<std::string> accepted_output_modes;  // empty: any
  std::vector<std::string> extensions;             // switched on for this request
  Generation origin = Generation::v1_0;            // of the client
  Leaving leaving = Leaving::goes_on;              // of the run that the message begins
  WhenUnknown when_unknown = WhenUnknown::refuse;
  WhenEnded when_ended = WhenEnded::refuse;
  WhenContextDiffers when_context_differs = WhenContextDiffers::refuse;
};

// A task's place in a list: lists are ordered by the time of the status, newest first, then by id, last
// first.
struct ListPosition {
  base::Timestamp status_at{};
  TaskId id;
};

// Which of a caller's tasks at an agent a list shows.
struct ListFilter {
  Caller caller;
  AgentName agent;
  ContextId context;                            // empty: any
  std::optional<State> state;                   // nothing: any
  std::optional<base::Timestamp> status_since;  // inclusive
  std::optional<ListPosition> after;            // the last task of the page before
  int limit = 50;                               // tasks on a page
};

// Whether a webhook of this generation is told of such an event: of every event that its A2A shows in a
// stream (1.0), or of status changes only, with the whole task (before).
bool webhook_hears(Generation generation, const EventBody& body);

// How much of a task a reader wants.
struct Depth {
  // The last so many messages; nothing means all.
  std::optional<int> history = 0;
  bool artifacts = true;
  // A task whose log holds more bytes is not read: too_large.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
};

}  // namespace baton::task
