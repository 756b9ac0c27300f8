// TurnOrder: what one turn's agent has opened and not closed: steps, and calls of its own tools.
//
// One client that checks strictly fails a whole run on something left open or closed twice, so it is refused
// or mended here, where the agent speaks. Threads: the host's only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "task/event.h"

namespace baton::agents {

class TurnOrder {
 public:
  // Empty if `body` may come now, and it is taken to have come; else why not.
  std::string take(const task::EventBody& body);

  // What closes all that is open, in the order in which it is to be said: results for the calls that got
  // none, then the ends of steps, the last begun first.
  std::vector<task::EventBody> close();

 private:
  std::string take_call(const task::ToolCall& call);
  std::string take_result(const task::ToolResult& result);
  std::string take_step(const task::Step& step);

  struct Call {
    std::uint64_t order = 0;
    bool open = true;
  };
  std::map<std::string, Call> calls_;           // all of the turn
  std::map<std::string, std::uint64_t> steps_;  // those that are open
  std::uint64_t next_ = 0;
};

}  // namespace baton::agents
