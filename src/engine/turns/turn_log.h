// TurnLog: the log of a task's last turn, read when the turn runs again or continues after waiting.
//
// The turns from one message of the caller to the task's next stop belong together: a turn that waited for
// its children continues as the next turn. Threads: pure, but for `page`, which may block.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/executor.h"
#include "base/error.h"
#include "engine/decide/rules/unfinished_subagents.h"
#include "task/head.h"

namespace baton::engine {

// The caller's answer to a child's question, which may not have reached the child.
struct PassedAnswer {
  std::string subagent;
  task::EventNumber question;  // of the child's log
  task::Message answer;
  task::EventNumber number = {};  // of the answer in this log
};

struct TurnLog {
  std::vector<task::ArtifactId> shown;    // artifacts and replies that the turn itself began
  UnfinishedSubagents subagents;          // open ones
  std::vector<task::Subagent> delegated;  // started or answered, in order; `error` of those without a task
  std::vector<agents::SaidReply> said;    // the replies of earlier turns, and those shown of children
  std::vector<PassedAnswer> passed;       // the last one for each subagent
  bool has_delegated = false;             // the turn itself
  std::vector<task::Json> states;         // every ExecutorState
  std::unordered_map<std::string, int> own_calls;  // how many children of each name the turn itself has
  // Each child by its name. Unlike `delegated`, includes children whose results the executor has taken in.
  std::unordered_map<std::string, task::TaskKey> children;

  // Returns the entries of `delegated` that are no longer awaited.
  std::vector<task::Subagent> settled() const;
};

// The beginning of the ids under which a task shows its children's replies, for its current message.
inline std::string shown_reply_ids(const task::TaskHead& head) {
  return head.id.value + "-s" + std::to_string(head.turn_message.value) + ".";
}

// Reads the log from the turn's message on. `page`: returns events after a number, in order; empty at the
// end.
using LogPage = std::function<base::Result<std::vector<task::Event>>(task::EventNumber after)>;
base::Result<TurnLog> read_turn_log(const task::TaskHead& head, const LogPage& page);

// Returns the last delegation of each name (Subagent::call).
std::vector<task::Subagent> last_of_each_call(const std::vector<task::Subagent>& delegated);

}  // namespace baton::engine
