// OpenSubagents: which subagents of a log have begun and have not ended. A value: its owner guards it.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"

namespace baton::engine {

class OpenSubagents {
 public:
  // False: it begins what is open or ends what is not, so it has no place in the log.
  bool follow(const task::Subagent& event);
  // The event that was followed last, or before those undone, will not be in the log.
  void undo(const task::Subagent& event);
  bool is_open(const std::string& id) const;
  // Ends all that are open, as failed.
  std::vector<task::Subagent> close_all(const std::string& error);

 private:
  std::vector<task::Subagent> open_;
};

}  // namespace baton::engine
