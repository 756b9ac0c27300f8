// Event: one entry of a task's log. Every protocol's stream is a view of these.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "task/ids.h"
#include "task/json.h"
#include "task/message.h"
#include "task/state.h"

namespace baton::task {

struct Status {
  State state = State::submitted;
  std::optional<Message> message;
  base::Timestamp at{};
  // So many of the message's first parts repeat the reply that was streamed, for clients that look for it
  // there. Whoever shows the TextDeltas leaves these parts out.
  int reply_parts = 0;
};

// The task's status is now this. `metadata` is an object ({"progress":0.4}) or absent.
struct StatusChanged {
  Status status;
  Json metadata;
  std::string ask = {};  // of a waiting status: the id of what is asked (a client's tool call has its own)
};

// What becomes of the run that a message begins once the client that sent it has left and nobody follows the
// task: it goes on, it goes on but makes way for the next run of its conversation, or it is canceled after a
// grace too.
enum class Leaving { goes_on, makes_way, cancels };

// A message joined the task's history.
struct MessageAdded {
  Message message;
  Leaving leaving = Leaving::goes_on;
  int reply_parts = 0;  // as of a Status
};

// A piece of the agent's streamed reply. Pieces of one reply share an id; joined, they are its text.
// A2A shows a reply as an artifact of one text part, chat protocols as a message.
struct TextDelta {
  ArtifactId reply;
  int ordinal = 0;
  std::string text;
  bool first = false;  // the reply begins (again) here: forget what came under this id before
  bool last = false;   // the reply ends here; `text` may be empty
  // A2A does not show it as an artifact: the status that ends the turn repeats the reply.
  bool in_status = false;
};

// A piece of what the agent thinks aloud, joined as the pieces of a reply are. No part of the conversation.
struct ReasoningDelta {
  ArtifactId span;
  std::string text;
  bool first = false;
  bool last = false;  // `text` may be empty
};

// An artifact, or a further chunk of one.
struct ArtifactChunk {
  Artifact artifact;
  bool append = false;      // the parts follow those that came before; otherwise they replace them
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
  std::string error;  // empty: it worked
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

// What a broken attempt had shown is no longer part of the task (agent-cards/README.md, "After a crash").
struct Withdrawn {
  std::vector<ArtifactId> artifacts;
};

struct Custom {
  std::string name;
  Json value;
};

// Something structured that a user interface shows beside the messages (a plan, a list of sources), under an
// id and a type of the agent's own. Either the whole content, an object, or RFC 6902 operations on it.
struct Activity {
  std::string id;
  std::string type;
  Json content;
  Json patch;
};

// Another agent works for this one.
struct Subagent {
  enum class Phase { started, finished, failed };
  std::string id;  // of its task; unique in the context
  std::string name;
  Phase phase = Phase::started;
  std::string error;  // of a failed one
};

// What the turn has used of a model: an object of provider, model (strings), inputTokens, outputTokens,
// totalTokens, reasoningTokens, cachedInputTokens (whole numbers from 0), each optional.
struct Usage {
  Json used;
};

using EventBody =
    std::variant<StatusChanged, MessageAdded, TextDelta, ArtifactChunk, ToolCall, ToolResult, StateSnapshot,
                 StateDelta, Step, Withdrawn, Custom, ReasoningDelta, Activity, Subagent, Usage>;

struct Event {
  EventNumber number;
  base::Timestamp at{};
  EventBody body;
};

// Shared by all who keep a log in memory and by readers about to encode it.
using EventPtr = std::shared_ptr<const Event>;

// About what an event holds in memory, in bytes: what bounds on waiting or remembered events count.
std::size_t weight_of(const EventBody& body);

// The message of a status without the parts that repeat the streamed reply; nothing if none are left.
std::optional<Message> own_message(const Status& status);
// The event for whoever has seen the streamed reply: without what repeats it. Null if nothing is left.
// `changed` is made where it must differ from the event.
const Event* without_repeated_reply(const Event& event, std::optional<Event>& changed);
// The id that an event takes in its context, of a tool call or a question; null if it takes none.
const std::string* taken_id_in(const EventBody& body);

// The status an event brings, or nothing.
inline const StatusChanged* status_in(const Event& event) {
  return std::get_if<StatusChanged>(&event.body);
}

}  // namespace baton::task
