// UnfinishedSubagents: the subagents of a log that have begun and not ended. Not thread-safe: its owner
// guards it.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"

namespace baton::engine {

class UnfinishedSubagents {
 public:
  // Applies an event. False if it does not fit, such as a second beginning or an end without one: then do not
  // log it.
  bool follow(const task::Subagent& event);
  // Reverts an event that will not be logged. Undo events last first.
  void undo(const task::Subagent& event);
  // The id of the open subagent whose task this is; empty if there is none.
  std::string open_id(task::TaskKey child) const;
  // The open ones but those that ask: their next stop is awaited.
  std::vector<task::Subagent> awaited() const;
  // Ends all open subagents as failed; returns the events.
  std::vector<task::Subagent> close_all(const std::string& error);

 private:
  std::vector<task::Subagent>
      open_;  // each the event by which it goes on; its phase becomes `asks` when it asks
};

}  // namespace baton::engine
