// The names under which chat protocols show what is in a task's log.
//
// The same thing has the same name in a stream and in the messages that are shown to a client that comes back
// later (transcript.h), so that a client that merges them has it once.
#pragma once

#include <string>
#include <unordered_set>

#include "task/event.h"

namespace baton::wire::chat {

// The names that a run has given to its messages, calls or subagents: none may be used for two things.
// Threads: one at a time.
class Names {
 public:
  // `wanted`, or where that is taken `wanted~2`, `wanted~3`, ...
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; !used_.insert(name).second; ++n) name = wanted + "~" + std::to_string(n);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
};

// Of what an event brings that has no name of its own. Unique in the conversation.
inline std::string name_of(const task::TaskId& task, task::EventNumber event) {
  return task.value + "-e" + std::to_string(event.value);
}

// Whether an agent's id can be that of no other task's thing: agents use ids of their own in one task after
// the other.
inline bool is_unique(const std::string& id, const task::TaskId& task) {
  return id.find(task.value) != std::string::npos;
}

}  // namespace baton::wire::chat
