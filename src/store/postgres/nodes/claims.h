// Claims: what one node at a time may do, by names; as advisory locks of one session. If that is lost, so are
// the claims: whoever has one uses it for a moment only.
//
// Threads: every method from any; `claim` blocks, giving one back does not.
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

  // As Peers::claim. Claims may outlive this.
  base::Result<Peers::Claim> claim(const task::Caller& caller, const std::string& name);
  // Gives all back at once. No claim is made afterwards.
  void end();

 private:
  struct Held {
    task::Caller caller;
    std::string name;
    std::int64_t session = 0;  // that has it, which one of the node's life; 0: none
  };

  struct Counts {
    int all = 0;
    std::unordered_map<task::Caller, int> of;  // those that have one
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
