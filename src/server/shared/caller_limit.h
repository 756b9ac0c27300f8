// CallerLimit: limits how many units of a resource (streams, waiting replies) each caller holds.
//
// Threads: any. Copies share one count, which lives until the last copy and hold are gone.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/guarded.h"
#include "http/http_server.h"
#include "task/ids.h"

namespace baton::server {

class CallerLimit {
 public:
  // One unit, released with the last copy. Null if the caller is at its limit.
  using Hold = std::shared_ptr<const void>;

  // Sets the limit for each caller; 0: no limit, and units are not counted.
  void set_max(int most) { state_->most = most; }

  Hold acquire(const task::Caller& caller) const;
  // Wraps the opener so that the stream's source keeps the hold until it ends.
  http::StreamOpener kept(Hold hold, http::StreamOpener opener) const;

 private:
  struct State {
    std::atomic<int> most{0};
    base::Guarded<std::unordered_map<std::string, int>> held;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with copies and holds
};

}  // namespace baton::server
