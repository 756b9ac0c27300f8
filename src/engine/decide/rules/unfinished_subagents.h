// UnfinishedSubagents: the subagents of a log that have begun and not ended. Not thread-safe: its owner
// guards it.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"

namespace baton::engine {

class UnfinishedSubagents {
 public:
  // Applies an event. Returns false if it does not fit, such as a second beginning or an end without one;
  // such an event must not be logged.
  bool follow(const task::Subagent& event);
  // Reverts an event that will not be logged. Undo events last first.
  void undo(const task::Subagent& event);
  // Returns the id of the open subagent whose task this is; empty if there is none.
  std::string open_id(task::TaskKey child) const;
  // Returns the open subagents whose next stop is awaited: all but those that ask.
  std::vector<task::Subagent> awaited() const;
  // Ends all open subagents as failed; returns the events.
  std::vector<task::Subagent> close_all(const std::string& error);

 private:
  std::vector<task::Subagent> open_;  // each the event that last set it to work; `asks` while it asks
};

}  // namespace baton::engine
