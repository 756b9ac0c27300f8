// Claims: locks by name between nodes, implemented as advisory locks of one session. If the session is lost,
// so are the claims; therefore a claim must be held only for a moment.
//
// Threads: every method from any; `claim` blocks, releasing a claim does not.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "store/peers.h"
#include "store/postgres/lane/link.h"

namespace baton::store::postgres {

class Claims : public std::enable_shared_from_this<Claims> {
 public:
  // `check` is called with each connection before it is used.
  Claims(const Address& address, std::function<void(Link&)> check)
      : address_(address), check_(std::move(check)) {}

  // See Peers::claim. A Claim may outlive this object.
  base::Result<Peers::Claim> claim(const task::Caller& caller, const std::string& name);
  // Releases all claims at once. Later calls of `claim` fail.
  void end();

 private:
  struct Held {
    task::Caller caller;
    std::string name;
    std::int64_t session = 0;  // the number of the session that holds the lock; 0: none
  };

  struct Counts {
    int all = 0;
    std::unordered_map<task::Caller, int> of;  // by caller; only callers that have claims
  };

  bool count(const task::Caller& caller);
  void uncount(const task::Caller& caller);
  bool ask(Held& held);
  void give_back(Held held);
  void unlock_returned();
  void queue_returned();

  const Address& address_;
  const std::function<void(Link&)> check_;
  base::Guarded<Counts> counts_;

  std::mutex link_mutex_;  // guards what follows
  std::unique_ptr<Link> link_;
  std::int64_t session_ = 0;
  bool is_over_ = false;

  std::mutex returned_mutex_;
  std::vector<Held> returned_;  // not unlocked yet
};

}  // namespace baton::store::postgres
