// RunRequest: what a client of a chat protocol asks of an agent in one request, whatever the protocol.
//
// A chat protocol answers one POST by one stream: a *run*. A run is what happens on a task from a message
// until the task stops (ends, or waits for its caller): the first run of a task begins with a new message, a
// further one with what the task waits for. AG-UI, AG-Kit, Agent API and Agent Server differ in how they
// write requests and events, not in this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/task.h"

namespace baton::wire::chat {

// The longest id (conversation, run, call, ask, user) that is read, in bytes.
inline constexpr std::size_t kIdMax = 256;

// The answer to what an agent asked.
struct Answer {
  std::string ask;
  bool cancelled = false;  // nobody answered; no payload
  task::Json payload;
};

// The result of a tool that the client ran.
struct ClientResult {
  std::string call;
  task::Json content;  // any JSON; a plain text is a JSON string
  std::string error;   // empty: it worked
};

struct RunRequest {
  task::ContextId conversation;  // empty: a new one
  std::string run;               // the client's name of the run; empty: it has none
  std::string parent_run;
  std::string after_response;  // Agent API's response_id: continue where that response was given
  bool newer = false;          // the client says that it knows what `protocolVersion` 1.0 added
  bool streams = true;         // else it wants the whole answer at once

  // What is new. All may be empty: then the client only wants to see what there is. A message beside answers
  // is new only if none of them is to anything open; else it is what the agent had asked about.
  task::Message message;  // without parts: none
  std::vector<ClientResult> results;
  std::vector<Answer> answers;

  // Of a client that keeps the conversation itself: all that came before, oldest first. What has no place in
  // a Message stands in data parts, {"toolCall":{id,name,arguments}} and {"toolResult":{id,content,error?}};
  // metadata.role has the role where it is neither user nor assistant (system, developer, tool, reasoning).
  std::optional<std::vector<task::Message>> history;

  task::Json tools;     // a list of {name, description?, parameters?}, parameters an object; or absent
  task::Json state;     // shared state, or absent
  task::Json metadata;  // an object with what else the agent may want to know, or absent
};

}  // namespace baton::wire::chat
