// Lease: renews a node's row in `nodes`, and takes over from nodes that are dead. A node that was declared
// dead while it was only frozen or cut off cannot write any more: its lane is closed (writer.h).
//
// A node is dead when its lease has expired or its sessions have ended, and it was watched for a second
// without a renewal. It is also dead when it was watched without one for the length of the watching node's
// lease: the database's clock may have been set back. A node that could not renew its own lease for a while,
// that has reconnected, or that sees a new start of the database, gives the others time before it judges
// them, because the same cause may have affected all nodes.
//
// If the node that takes over does not have a task's agent, the task belongs to no node until a node that has
// the agent adopts it.
//
// A joining node waits until each other node has published that it knows the new one, or is dead. So a node
// that is alone may rely on its memory, but for at most one second after each renewal: another node must
// watch it that long before it declares the node dead.
//
// The times of leases are the database's; how long a node watches is its own time. Threads: has one of its
// own; every method may be called from any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/peers.h"
#include "store/postgres/lane/link.h"
#include "store/postgres/lane/nodes.h"

namespace baton::store::postgres {

// Longer than a node needs to renew its lease, even when the database has just returned.
inline constexpr std::chrono::milliseconds kGoneAfter(1'000);

// How long a node counts as alive after a renewal, and the longest interval between renewals.
struct LeaseTimes {
  std::chrono::milliseconds length{5'000}, renewal{500};
};

class Lease {
 public:
  // All functions are called on the lease's thread and must return soon.
  struct Events {
    // Called with each connection before it is used. An exception from it counts as a failure of the
    // database.
    std::function<void(Link&)> check;
    // Called once, when the row is gone because another node has taken over.
    std::function<void()> on_lost;
    std::function<void(std::vector<task::TaskKey>)> on_adopted;
    std::function<void()> on_asked_to_drain;
    // All other nodes have gone. This node counts as alone once `rely_on_memory` was called with this number.
    std::function<void(std::int64_t)> on_alone_again;
  };

  Lease(const Address& address, std::int64_t node, LeaseTimes times, Events events);
  // Calls `leave`.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // Waits until the node has joined. Returns false if it still waits for other nodes after this time.
  bool await_joined(std::chrono::milliseconds patience);
  // Starts the next round now, which checks the other nodes.
  void look();
  // Releases the lease, so that no other node has to wait until it expires.
  void leave();
  void rely_on_memory(std::int64_t number) { memory_is_of_ = number; }
  void announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report);

  bool is_alone() const;
  bool has_others() const { return has_others_; }
  bool is_in_touch() const;
  bool leads() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  // A node's lease, and the time since which it has not changed.
  struct Watched {
    std::string lease;
    Time since;
  };

  void run();
  bool round();
  void connect();
  void note_loss();
  void note_others(const std::vector<SeenNode>& others, Time start);
  bool is_dead(const SeenNode& other);
  void adopt_left(Time start);
  void report_adopted();
  void settle_taken();
  std::vector<task::AgentName> agents();
  void lead(Time start);
  NodeReport report();
  void say();
  void give_back();
  std::chrono::milliseconds pause() const;
  bool rest(std::chrono::milliseconds time);

  const Address& address_;
  const std::int64_t node_;
  const LeaseTimes times_;
  const Events events_;

  // Used only by the lease's thread.
  std::unique_ptr<Link> link_;
  std::int64_t knows_;
  std::map<std::int64_t, Watched> watched_;
  Time judges_from_{}, renewed_{};  // when it may declare others dead; its last renewal
  std::string up_since_;            // when the database started
  std::int64_t crowds_ = 0;         // how often other nodes have appeared after none was there
  Time adopts_at_{};                // the next time to adopt tasks that belong to no node
  Taken taken_;                     // an unconfirmed takeover
  bool is_leader_ = false, has_been_asked_ = false;
  std::optional<std::string> said_;        // the agents last published
  std::chrono::microseconds database_{0};  // the database's response time at the last renewal

  std::atomic<std::int64_t> alone_until_ = 0, memory_is_of_ = 0, in_touch_until_ = 0;
  std::atomic<std::int64_t> leads_from_ = 0, leads_until_ = 0;
  std::atomic<bool> has_others_ = false, has_joined_ = false, has_announced_ = false, adopts_soon_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false, looks_ = false, is_asking_ = false;
  std::vector<NodeAgent> agents_;
  std::function<NodeReport()> report_;
  std::jthread thread_;
};

}  // namespace baton::store::postgres
