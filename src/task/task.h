// Task: a task as a reader sees it, and the requests that callers make.
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

// The version of A2A that a caller or a webhook uses; `none` for a caller of another protocol. The numeric
// values are stored and must not change.
enum class ProtocolVersion { v0_1, v0_2, v0_3, v1_0, none };

// A range of consecutive versions, both ends included.
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
  std::vector<Message> history;  // the requested number of messages from its end
  Json metadata;
  ProtocolVersion origin = ProtocolVersion::v1_0;  // of the client that created the task
  EventNumber last_event;                          // the value covers the log up to this event
  bool hidden = false;                             // callers get only a message as the answer, no task
};

// The approximate memory of the task in bytes.
std::size_t weight_of(const Task& task);

// A task's webhook: the URL that receives its events (webhook_hears), and how to send them.
struct PushConfig {
  PushConfigId id;
  std::string url;
  std::string token;
  std::vector<std::string> schemes;
  std::string credentials;
  Json authentication_extra;  // the whole `authentication` object of A2A 0.1, for its further members
  ProtocolVersion version = ProtocolVersion::v1_0;
  // The reason why the last delivery attempt failed; empty if it succeeded. Read-only: not stored with the
  // config.
  std::string last_error = {};
};

// Returns the id for a config that came without one. Clients of A2A 1.0 and of other protocols get a new id,
// which the answer tells them. Clients of earlier versions ignore the id in the answer: they get the task's
// id, so that they mean the same config each time.
PushConfigId id_for_unnamed(const PushConfig& config, const TaskId& task);

// A task as a caller names it: ids are unique per caller and agent.
struct TaskRef {
  Caller caller;
  AgentName agent;
  TaskId id;
};

// A context as a caller names it: ids are unique per caller and agent.
struct ContextRef {
  Caller caller;
  AgentName agent;
  ContextId id;
};

// The effect of a send to a task that has ended.
enum class WhenEnded { refuse, reopen };
// The event that the client waits for: the message is stored, or the run that it begins has an outcome.
enum class WaitsFor { acknowledgement, outcome };
// The effect of a send to an unknown task id.
enum class WhenUnknown { refuse, create };
// The effect of a send to a task that names a context other than the task's own.
enum class WhenContextDiffers { refuse, ignore };

// The access token that a caller came with, after it was verified. It is never stored.
struct SubjectToken {
  std::string text;
  base::Timestamp until{};  // when it expires
};
using SubjectTokenPtr = std::shared_ptr<const SubjectToken>;  // shared by requests, tasks and turns

// A message for an agent: a new task, an answer, or more work for a task.
struct Submission {
  Caller caller;
  AgentName agent;
  TaskId task;        // empty: a new task whose id Baton generates
  ContextId context;  // empty: the task's own, or a new one
  Message message;
  Json metadata;  // of the request; becomes the metadata of a new task
  Json tools;     // the client's tools, a list; absent where the protocol has none
  Json state;     // the client's shared state
  // The agents on other servers ("server/agent") that passed the request on, in order.
  std::vector<std::string> hops;
  std::string trace;  // the request's `traceparent` (base/trace_context.h), or empty
  // The earlier conversation, from a client that keeps it itself; if absent, Baton's own is used.
  std::optional<std::vector<Message>> history;
  // The start time of a new task's turn; if absent or past, the turn begins as soon as possible.
  std::optional<base::Timestamp> start_at;
  // Limits for a new task, in addition to those of the agent's card; null: none.
  std::shared_ptr<const Budget> budget;
  // The agents that the task may give work to from now on, as restricted by the caller's token
  // (Budget::agents); null: any.
  std::shared_ptr<const std::vector<std::string>> child_agents;
  // The caller's token, for agents that act for their callers (outbound::Server::Exchange); null: it has
  // none, or no agent does.
  SubjectTokenPtr subject = nullptr;
  // The client's idempotency key for this request, unique in the context. A second request with the same key
  // is a repetition, whatever its content. If empty, the message's id and content decide (README, promise 6).
  std::string name;
  // The id of the question that this message answers; the send is refused with `conflict` unless the task
  // waits for that answer. If empty, the message answers the task's current question, if there is one.
  std::string ask;
  // A new task may be answered by a message alone. The task is hidden while that is possible (Task::hidden).
  bool may_be_message = false;
  // If `task` is empty, the message answers the task of its context that waits for input, if there is exactly
  // one.
  bool answers_context = false;
  std::string schedule;  // for a new task: the name of the schedule that creates it, or empty
  // Set if an operator sends the message; stored with an Intervention in the task's log. Null if the caller
  // does.
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

// The approximate memory of a submission in bytes.
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
  std::optional<State> state;                   // absent: any
  std::optional<base::Timestamp> status_since;  // inclusive
  std::optional<ListPosition> after;            // the last task of the previous page
  int limit = 50;                               // tasks on a page
};

// Whether a webhook of this version receives the event. In 1.0 it receives every event that A2A 1.0 shows in
// a stream; in earlier versions only status changes, each sent as the whole task.
bool webhook_hears(ProtocolVersion version, const EventBody& body);

// The parts of a task that a reader requests.
struct Depth {
  // The number of messages from the end; absent means all.
  std::optional<int> history = 0;
  bool artifacts = true;
  // Reading a task whose log holds more bytes fails with too_large.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
};

}  // namespace baton::task
