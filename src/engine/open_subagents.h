// OpenSubagents: the subagents of a log that have begun and not ended. Not thread-safe: its owner guards it.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"

namespace baton::engine {

class OpenSubagents {
 public:
  // Applies an event. False if it begins an open subagent or ends one that is not open: then do not log it.
  bool follow(const task::Subagent& event);
  // Reverts an event that will not be logged. Undo events last first.
  void undo(const task::Subagent& event);
  bool is_open(const std::string& id) const;
  // Ends all open subagents as failed; returns the events.
  std::vector<task::Subagent> close_all(const std::string& error);

 private:
  std::vector<task::Subagent> open_;
};

}  // namespace baton::engine
