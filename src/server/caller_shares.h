// CallerShares: how many of something each caller holds, so that none of them holds more than its share.
//
// Threads: any. Copies are the same count, which lives as long as the last hold.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/guarded.h"
#include "server/http/http_server.h"
#include "task/ids.h"

namespace baton::server {

class CallerShares {
 public:
  // Ends with its last copy. Null: the caller has all it may have.
  using Hold = std::shared_ptr<const void>;

  // What each caller may hold; 0 is no bound, and then nothing is counted.
  void set_max(int most) { state_->most = most; }

  Hold take(const task::Caller& caller) const;
  // The same stream, whose source keeps the hold until it ends.
  http::StreamOpener kept(Hold hold, http::StreamOpener opener) const;

 private:
  struct State {
    std::atomic<int> most{0};
    base::Guarded<std::unordered_map<std::string, int>> held;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with copies and holds
};

}  // namespace baton::server
