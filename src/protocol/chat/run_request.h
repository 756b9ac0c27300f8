// RunRequest: one request of a client to an agent, the same for all chat protocols.
//
// A chat protocol answers one POST with one stream: a *run*. A run covers the events of a task from a message
// until the task stops (ends, or waits for its caller). The first run of a task begins with a new message,
// later runs with the answer or result that the task waits for. AG-UI, AG-Kit, Agent API and Agent Server
// differ only in how they write requests and events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/task.h"

namespace baton::protocol::chat {

// The longest id (conversation, run, message, user) that is accepted, in bytes.
inline constexpr std::size_t kIdMax = 256;
// The longest id of a question, or of a call that a client runs. Baton makes some of these ids from others.
// They are keys in stores, and a key of PostgreSQL has about 2,500 bytes at most.
inline constexpr std::size_t kAskMax = 2'000;

// The answer to an agent's question.
struct Answer {
  std::string ask;
  bool cancelled = false;  // the question was not answered; no payload
  task::Json payload;
};

// The result of a tool that the client ran.
struct ClientResult {
  std::string call;
  task::Json content;  // any JSON; a plain text is a JSON string
  std::string error;   // empty if the call succeeded
};

struct RunRequest {
  task::ContextId conversation;  // empty: a new one
  std::string run;               // the client's name for the run; empty: none
  std::string parent_run;
  std::string after_response;  // Agent API's response_id: continue where that response was given
  bool newer = false;          // the client speaks `protocolVersion` 1.0 or later
  bool streams = true;         // false: the client wants the whole answer at once
  bool background = false;     // the run continues without its client; the whole answer is how it begins

  // The new content. If all three are empty, the client only reads the conversation. A message sent with
  // answers is new only if none of them answers an open question; otherwise it is the message that led to the
  // question.
  task::Message message;  // without parts: none
  std::vector<ClientResult> results;
  std::vector<Answer> answers;

  // For a client that keeps the conversation itself: all earlier messages, oldest first. A Message has no
  // members for tool use, so it is in data parts: {"toolCall":{id,name,arguments}} and
  // {"toolResult":{id,content,error?}}. metadata.role has the role if it is neither user nor assistant
  // (system, developer, tool, reasoning).
  std::optional<std::vector<task::Message>> history;

  // AG-UI: the client's list of messages as it sent it, for a run that must take words back; absent if it is
  // large or empty.
  task::Json messages;
  task::Json tools;     // a list of {name, description?, parameters?}, parameters an object; or absent
  task::Json state;     // shared state, or absent
  task::Json metadata;  // an object with other information for the agent, or absent
  std::vector<std::string> hops;  // see task::Submission

  // If set, only a question of this task is answered; empty: the request begins a task.
  std::optional<task::TaskId> answers_only;
  task::Json about;  // the metadata of the message that begins the run, an object; absent: the message's own
  std::string files_url;  // as in RunFacts
};

}  // namespace baton::protocol::chat
