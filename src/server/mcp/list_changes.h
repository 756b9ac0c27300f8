// ListChanges: the streams whose clients hear that their list of tools may have changed.
//
// Threads: any. Copies share one list.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/guarded.h"

namespace baton::server::mcp {

class ListChanges {
 public:
  // Removes the function when the last copy is gone; `tell` may still be calling it.
  using Hold = std::shared_ptr<const void>;

  // `changed` must not block.
  Hold add(std::function<void()> changed) const;
  // Calls every function that was added.
  void tell() const;

 private:
  struct State {
    std::map<std::uint64_t, std::function<void()>> hear;
    std::uint64_t next = 1;
  };
  std::shared_ptr<base::Guarded<State>> state_ = std::make_shared<base::Guarded<State>>();  // see above
};

}  // namespace baton::server::mcp
