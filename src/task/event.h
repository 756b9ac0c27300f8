// Event: one entry of a task's log. Every protocol's stream is a view of the log's events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "task/budget.h"
#include "task/ids.h"
#include "task/json.h"
#include "task/message.h"
#include "task/state.h"

namespace baton::task {

// A child task that asks a question, or that passes on the question of its own child.
struct Asker {
  AgentName agent;
  TaskId task;
  std::string ask;  // the question's id in the log of the task's parent
  friend bool operator==(const Asker&, const Asker&) = default;
};

struct Status {
  State state = State::submitted;
  std::optional<Message> message;
  base::Timestamp at{};
  // The number of leading parts that repeat the streamed reply, for clients that look for it in the message.
  // Views that show the TextDeltas leave these parts out.
  int reply_parts = 0;
  // The path of a question that came from a child: the task's own child first, the task that asks last.
  std::vector<Asker> asked_by = {};
  // For a terminal status: the usage of the task and the tasks below it.
  Taken taken = {};
};

// The task's new status. `metadata` is an object ({"progress":0.4}) or absent.
struct StatusChanged {
  Status status;
  Json metadata;
  std::string ask = {};  // for a waiting status: the id of the question (a client's tool call has its own id)
};

// The fate of a message's run after its client has disconnected, if no other client follows the task.
// goes_on: the run continues. makes_way: it continues until the next run of its conversation. cancels: as
// makes_way, and the run is canceled after a grace period.
enum class Leaving { goes_on, makes_way, cancels };

// A message joined the task's history.
struct MessageAdded {
  Message message;
  Leaving leaving = Leaving::goes_on;
  int reply_parts = 0;     // as in Status
  bool for_child = false;  // the caller's answer to a child's question: starts no turn of this task
};

// A piece of the agent's streamed reply. Pieces of one reply share an id; joined, they are its text.
// A2A shows a reply as an artifact of one text part, chat protocols as a message. A piece that begins and
// ends a reply without text withdraws it (is_withdrawal).
struct TextDelta {
  ArtifactId reply;
  int ordinal = 0;
  std::string text;
  bool first = false;  // the reply begins (again) here: drop its earlier pieces
  bool last = false;   // the reply ends here; `text` may be empty
  // A2A shows the reply in the status that ends the turn, not as an artifact.
  bool in_status = false;
};

inline bool is_withdrawal(const TextDelta& piece) {
  return piece.first && piece.last && piece.text.empty();
}

// A piece of the agent's reasoning, joined like the pieces of a reply. Not part of the conversation.
struct ReasoningDelta {
  ArtifactId span;
  std::string text;
  bool first = false;
  bool last = false;  // `text` may be empty
};

// An artifact, or a further chunk of one.
struct ArtifactChunk {
  Artifact artifact;
  bool append = false;      // the parts follow the earlier ones; otherwise they replace them
  bool last_chunk = false;  // the artifact is complete
};

struct ToolCall {
  std::string id;
  std::string name;
  Json arguments;
  bool by_client = false;  // the caller's tool: the task waits for its result
};

struct ToolResult {
  std::string id;
  Json content;
  std::string error;  // empty if the call succeeded
};

struct StateSnapshot {
  Json snapshot;
};

struct StateDelta {
  Json patch;  // a list of RFC 6902 operations
};

struct Step {
  enum class Phase { start, finish };
  std::string name;
  Phase phase = Phase::start;
};

// Output of a failed attempt that is no longer part of the task (agent-cards/LINE-PROTOCOL.md, "After a
// crash").
struct Withdrawn {
  std::vector<ArtifactId> artifacts;
};

struct Custom {
  std::string name;
  Json value;
};

// Structured content that a user interface shows beside the messages (a plan, a list of sources). The agent
// chooses the id and the type. Has either `content`, the whole object, or `patch`, RFC 6902 operations on it.
struct Activity {
  std::string id;
  std::string type;
  Json content;
  Json patch;
};

// A phase of a child task: another agent's work for this one. The child is open from `started` to `finished`
// or `failed`. `asks`: the child waits for this agent's answer; `answered`: it got the answer. The turn
// awaits the child while it is open, except between `asks` and `answered`. `passed`: the caller has answered
// the child's question with number `after`. Views show only the beginning and the end.
struct Subagent {
  enum class Phase { started, finished, failed, asks, answered, passed };
  std::string id;  // of the child task; unique in the context
  std::string name;
  Phase phase = Phase::started;
  std::string error = {};  // for `failed`
  // For `started` and `answered`; private to the agent and the engine.
  std::string call = {};     // the agent's own name for the work
  TaskKey task = {};         // the child; 0 if it could not be created
  EventNumber after = {};    // the child's next stop after this event is the result
  bool asks_agent = false;   // the child's questions are for the agent, not for the task's caller
  bool is_detached = false;  // the child outlives the task and is not awaited; set in every phase
  // For `finished` and `failed`: the tokens used by the child and the tasks below it, and the number of tasks
  // below it.
  std::int64_t tokens = 0;
  std::int64_t children = 0;
  // For `started`; private to the engine: the child's replies are this task's, and are shown as they come.
  bool shows_replies = false;
};

// The turn's use of a model: an object with provider, model (strings), inputTokens, outputTokens,
// totalTokens, reasoningTokens, cachedInputTokens (integers from 0), each optional.
struct Usage {
  Json used;
  std::int64_t tokens = 0;  // the total of `used`; counted when the event joins a log, but not stored with it
};

// The data that an executor needs to resume its work after a crash (for example the task that it began at a
// remote agent). Private: no view shows it. If an attempt has several, the last one counts.
struct ExecutorState {
  Json state;
  // The names of delegated work (Subagent::call) whose results the executor has consumed. Later turns do not
  // get these results again.
  std::vector<std::string> taken = {};
  // The usage of the remote work since the previous ExecutorState; counted like Usage::tokens.
  Taken used = {};
  // The standard error of the agent's process in an attempt that failed; only with the end of that attempt.
  // Shown to operators only.
  std::string errors = {};
};

// An operator of this server has acted on the task. Private: no protocol's view shows it, and webhooks do not
// receive it. It is the only event that may join the log of a task that has ended.
struct Intervention {
  std::string actor;
  std::string action;  // as in AuditEntry
  std::string reason;
  std::string detail = {};  // as in AuditEntry
};

using EventBody = std::variant<StatusChanged, MessageAdded, TextDelta, ArtifactChunk, ToolCall, ToolResult,
                               StateSnapshot, StateDelta, Step, Withdrawn, Custom, ReasoningDelta, Activity,
                               Subagent, Usage, ExecutorState, Intervention>;

struct Event {
  EventNumber number;
  base::Timestamp at{};
  EventBody body;
};

// Shared by logs in memory and by readers about to encode the event.
using EventPtr = std::shared_ptr<const Event>;

// The approximate memory of an event in bytes, as counted by bounds on queued and cached events. All texts
// that an agent or a caller chooses count: ids and names may be as long as the rest.
std::size_t weight_of(const EventBody& body);

// Returns the message of a status without the parts that repeat the streamed reply; nullopt if no parts are
// left.
std::optional<Message> own_message(const Status& status);
// Returns the event without the parts that repeat the streamed reply, for readers that have seen the reply.
// Returns null if nothing is left. If the result differs from `event`, it is stored in `changed`.
const Event* without_repeated_reply(const Event& event, std::optional<Event>& changed);
// The id of a tool call or question that the event claims in its context; null if there is none.
const std::string* taken_id_in(const EventBody& body);

// The event's status, or null.
inline const StatusChanged* status_in(const Event& event) {
  return std::get_if<StatusChanged>(&event.body);
}

}  // namespace baton::task
