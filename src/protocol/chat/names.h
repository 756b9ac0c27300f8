// The names under which chat protocols show the contents of a task's log.
//
// An item has the same name in a stream and in the messages shown to a client that reconnects later
// (transcript.h). So a client that merges both has each item once.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "task/event.h"

namespace baton::protocol::chat {

// The names that a run has given to its messages, calls or subagents. No name is used twice. Threads: one at
// a time.
class Names {
 public:
  // Returns `wanted` or, if that is taken, `wanted~2`, `wanted~3`, ...
  std::string fresh(const std::string& wanted) {
    if (used_.insert(wanted).second) return wanted;
    int& last = last_.try_emplace(wanted, 1).first->second;
    std::string name;
    do {
      name = wanted + "~" + std::to_string(++last);
    } while (!used_.insert(name).second);
    return name;
  }
  bool has(const std::string& name) const { return used_.contains(name); }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> last_;  // the numbers given, by the name that was wanted
};

// Returns a name for an item that an event adds without naming it. Unique in the conversation.
inline std::string name_of(const task::TaskId& task, task::EventNumber event) {
  return task.value + "-e" + std::to_string(event.value);
}

// Whether an agent's id contains the task's id, and so cannot occur in another task. Agents may reuse their
// own ids in other tasks.
inline bool is_unique(const std::string& id, const task::TaskId& task) {
  return id.find(task.value) != std::string::npos;
}

}  // namespace baton::protocol::chat
