// Lease: keeps a node's row in `nodes` alive. Whoever waits for the database takes it when its holder's lease
// is over, or sooner if the holder's session has ended and the lease is not renewed. A holder that was only
// frozen or cut off writes nothing more: its lane is gone (writer.h).
//
// All times are the database's. Threads: one of its own; the destructor ends it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"
#include "store/postgres/link.h"

namespace baton::store::postgres {

// How long a node counts as alive after it has said so, and how often it says so.
struct LeaseTimes {
  std::chrono::milliseconds length{5'000}, renewal{500};
};

class Lease {
 public:
  // `check`: called with each connection before it is used; what it throws counts as a failure of the
  // database. `on_lost`: called once: the row is gone, as another Baton has taken over. Both are called on
  // the lease's thread.
  Lease(const Address& address, std::int64_t node, LeaseTimes times, std::function<void(Link&)> check,
        std::function<void()> on_lost);
  // Gives the lease back, so that whoever waits need not wait for its end.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  void run();
  std::unique_ptr<Link> connect();
  bool renew(Link& link);
  bool rest(std::chrono::milliseconds time);

  const Address& address_;
  const std::int64_t node_;
  const LeaseTimes times_;
  const std::function<void(Link&)> check_;
  const std::function<void()> on_lost_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::jthread thread_;
};

// Waits until nobody has the database, and ends the sessions of a holder whose lease is over. A lock that is
// free does not mean that its holder is gone: the database may have been restarted, and the holder is on its
// way back. `waits` is asked while somebody has it, or the database is away. False: it said no.
bool wait_until_free(const Address& address, const std::function<bool()>& waits);

}  // namespace baton::store::postgres
