// Task: a task as a reader sees it, and the requests that callers make of it.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "task/audit.h"
#include "task/budget.h"
#include "task/event.h"
#include "task/ids.h"

namespace baton::task {

// The version of A2A that a caller or a webhook uses; `none` for a caller of another protocol. The store
// keeps the numbers.
enum class ProtocolVersion { v0_1, v0_2, v0_3, v1_0, none };

// Versions in a row, both ends included.
struct VersionRange {
  ProtocolVersion first;
  ProtocolVersion last;

  constexpr bool contains(ProtocolVersion version) const { return first <= version && version <= last; }
};

struct Task {
  TaskId id;
  ContextId context;
  Status status;
  std::vector<Artifact> artifacts;
  std::vector<Message> history;  // its end, as much as was requested
  Json metadata;
  ProtocolVersion origin = ProtocolVersion::v1_0;  // of the client that made it
  EventNumber last_event;                          // the value shows the log up to here
  bool hidden = false;                             // callers see no task, only a message as the answer
};

// Its approximate memory in bytes.
std::size_t weight_of(const Task& task);

// A task's webhook: where its events are sent (webhook_hears).
struct PushConfig {
  PushConfigId id;
  std::string url;
  std::string token;
  std::vector<std::string> schemes;
  std::string credentials;
  Json authentication_extra;  // the whole `authentication` object of A2A 0.1, for its further members
  ProtocolVersion version = ProtocolVersion::v1_0;
  // Why the last delivery attempt failed; empty if it succeeded. Read only: not stored with the config.
  std::string last_error = {};
};

// The id for a config that came without one. Clients of 1.0 and of other protocols get a new id and are told
// it. Earlier clients do not look: theirs is the task's id, so that they mean the same config each time.
PushConfigId id_for_unnamed(const PushConfig& config, const TaskId& task);

// A task as a caller names it: ids are unique per caller and agent.
struct TaskRef {
  Caller caller;
  AgentName agent;
  TaskId id;
};

// A context, likewise.
struct ContextRef {
  Caller caller;
  AgentName agent;
  ContextId id;
};

// What a send to a task that has ended does.
enum class WhenEnded { refuse, reopen };
// What the client waits for: to hear that the message is stored, or what the run that it begins has come to.
enum class WaitsFor { acknowledgement, outcome };
// What a send to a task id that is unknown does.
enum class WhenUnknown { refuse, create };
// What a send to a task does if it names a context other than the task's own.
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
  // The agents on other servers ("server/agent") through which the request has come, the first one first.
  std::vector<std::string> hops;
  std::string trace;  // the `traceparent` it came with (base/trace_context.h); empty: none
  // The earlier conversation, from a client that keeps it itself; nothing: Baton's own is used.
  std::optional<std::vector<Message>> history;
  // A new task's turn begins at this time; nothing, or a time that is past: as soon as it can.
  std::optional<base::Timestamp> start_at;
  // Limits of the task that it makes, besides those of the agent's card; null: none.
  std::shared_ptr<const Budget> budget;
  // The agents to which the task may give work from now on, as the caller's token says (Budget::agents);
  // null: any.
  std::shared_ptr<const std::vector<std::string>> child_agents;
  // The client's idempotency key for this request, unique in the context. A second request of the same name
  // is a repetition, whatever its content. Empty: the message's id and content decide (README, promise 6).
  std::string name;
  // The ask that this message answers: refused with `conflict` unless the task waits for it. Empty: whatever
  // the task waits for, if anything.
  std::string ask;
  // A new task may be answered by a message alone, and is hidden while that is possible (Task::hidden).
  bool may_be_message = false;
  // If `task` is empty, the message answers the task of its context that waits for input, if there is exactly
  // one.
  bool answers_context = false;
  std::string schedule;  // of a new task: the name of the schedule that makes it; empty: none does
  // An operator sends it: stored with an Intervention in the task's log. Null: its caller does.
  std::shared_ptr<const AuditEntry> audit;
  std::optional<PushConfig> push;
  std::vector<std::string> accepted_output_modes;  // empty: any
  std::vector<std::string> extensions;             // active for this request
  ProtocolVersion origin = ProtocolVersion::v1_0;  // of the client
  Leaving leaving = Leaving::goes_on;              // of the run that the message begins
  WaitsFor waits_for = WaitsFor::acknowledgement;
  WhenUnknown when_unknown = WhenUnknown::refuse;
  WhenEnded when_ended = WhenEnded::refuse;
  WhenContextDiffers when_context_differs = WhenContextDiffers::refuse;
};

// The memory that a submission holds, approximately.
std::size_t weight_of(const Submission& submission);

// A task's place in a list. Lists are ordered by the time of the status, newest first, then by id,
// descending.
struct ListPosition {
  base::Timestamp status_at{};
  TaskId id;
};

// Selects the tasks of a caller at an agent for a list.
struct ListFilter {
  Caller caller;
  AgentName agent;
  ContextId context;                            // empty: any
  std::optional<State> state;                   // nothing: any
  std::optional<base::Timestamp> status_since;  // inclusive
  std::optional<ListPosition> after;            // the last task of the page before
  int limit = 50;                               // tasks on a page
};

// Whether a webhook of this version receives the event. 1.0: every event that its A2A shows in a stream.
// Before: status changes only, with the whole task.
bool webhook_hears(ProtocolVersion version, const EventBody& body);

// How much of a task a reader wants.
struct Depth {
  // How many of the last messages; nothing means all.
  std::optional<int> history = 0;
  bool artifacts = true;
  // Reading a task whose log holds more bytes fails with too_large.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
};

}  // namespace baton::task
