// RunningCalls: the legacy calls that wait on this node, so that `notifications/cancelled` finds their tasks.
// Ids of requests are unique in a session only, so calls without a session are not here.
//
// Threads: any. Copies share one list.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/guarded.h"

namespace baton::server::mcp {

class RunningCalls {
 public:
  // Removes the call when the last copy is gone.
  using Hold = std::shared_ptr<const void>;

  // `request`: the id of the call, as JSON. A second call with the same id replaces the first.
  Hold add(const std::string& session, const std::string& request, std::function<void()> cancel) const;
  // Calls the function that was added for the call, if there is one.
  void cancel(const std::string& session, const std::string& request) const;

 private:
  struct Running {
    std::function<void()> cancel;
    std::uint64_t number = 0;
  };
  struct State {
    std::unordered_map<std::string, Running> calls;
    std::uint64_t next = 1;
  };
  std::shared_ptr<base::Guarded<State>> state_ = std::make_shared<base::Guarded<State>>();  // see above
};

}  // namespace baton::server::mcp
