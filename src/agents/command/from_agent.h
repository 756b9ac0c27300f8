// Reads the lines an agent writes to Baton (agent-cards/LINE-PROTOCOL.md), with strict checking.
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "task/event.h"

namespace baton::agents::line {

// {"type":"text","delta":"..."}
struct Text {
  std::string delta;
};

// {"type":"reasoning","delta":"..."}
struct Reasoning {
  std::string delta;
};

// {"type":"delegate","id":"d1","agent":"...","message":{...} or "...","task":"<a child that waits>"?,
// "questions":"mine"?,"detach":true?}
struct Delegate {
  std::string id;
  std::string agent;
  task::Message message;
  task::TaskId task;
  bool takes_questions = false;
  bool detached = false;
};

// {"type":"wait"}: the turn ends, and another turn begins once its children have stopped.
struct Wait {};

// {"type":"ask","message":"..." or {parts},"schema":{...}?,"id":"..."?}; the schema is the message's last
// part: data {"schema":...}.
struct Ask {
  std::string id;
  task::Message message;
};

// {"type":"auth","message":"...","url":"..."?,"id":"..."?}; the URL is the message's last part: data
// {"url":"..."}.
struct Auth {
  std::string id;
  task::Message message;
};

// {"type":"done","message":"..." or {parts}?}
struct Finish {
  std::optional<task::Message> message;
};
struct Fail {
  std::string error;
  std::string detail;  // for the agent's author: shown in place of `error` with verbose errors; may be empty
};
struct Reject {
  std::string reason;
};

// An EventBody stands for the types that only add an entry to the log: status, artifact, tool-call,
// tool-result, state, step, custom, activity, usage. A status has no time and a message no id yet: the caller
// adds them when it stores them. What strict clients would fail on is refused: arguments of a call must be an
// object, patches complete JSON Patch operations. Usage keeps only the members of task::Usage.
using AgentMessage =
    std::variant<Text, Reasoning, task::EventBody, Delegate, Wait, Ask, Auth, Finish, Fail, Reject>;

struct AgentLine {
  std::string turn;  // empty: not given
  AgentMessage message;
};

// Fails with parse_error for a line that is not JSON, and with invalid_argument, naming type and member, for
// JSON that is none of the messages above or is nested too deeply.
base::Result<AgentLine> decode(std::string_view line);

// All types of lines that an agent may write.
std::vector<std::string_view> types();

// A line as `decode` reads it.
struct Decoded {
  base::Result<AgentLine> line;
  std::string refused_turn;  // that a refused line names, or empty
};
Decoded decode_any(std::string_view line);

}  // namespace baton::agents::line
