// UnfinishedSteps: the steps and calls of the agent's own tools that one turn has opened and not closed.
//
// A strict client fails a whole run if something is left open or closed twice. So such output is refused
// or repaired here, as soon as it arrives. Threads: the host's only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "task/event.h"

namespace baton::agents {

class UnfinishedSteps {
 public:
  // Returns empty if `body` may come now, and records it; else returns why not.
  std::string record(const task::EventBody& body);

  // The steps and calls that are open.
  std::size_t count() const { return open_calls_ + steps_.size(); }

  // Returns the events that close all that is open, in the order to emit them: results for the calls that got
  // none, then the ends of steps, the last begun first.
  std::vector<task::EventBody> close();

 private:
  std::string record_call(const task::ToolCall& call);
  std::string record_result(const task::ToolResult& result);
  std::string record_step(const task::Step& step);

  struct Call {
    std::uint64_t order = 0;
    bool open = true;
  };
  std::map<std::string, Call> calls_;           // all of the turn
  std::map<std::string, std::uint64_t> steps_;  // the open ones
  std::size_t open_calls_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace baton::agents
