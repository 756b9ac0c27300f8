// Lease: keeps a node's row in `nodes` alive, and takes over from nodes that are dead. A node that was only
// frozen or cut off writes nothing more then: its lane is closed (writer.h).
//
// A node is dead when its lease is over, or its sessions have ended, and it was watched for a second without
// a sign of life. Whoever could not give such signs itself for a while, or has a new connection, leaves the
// others time to give theirs: what has kept it from the database may have kept all.
//
// Tasks of agents that whoever takes over does not have are of no node, until one that has the agent looks.
//
// A node joins: it waits until each other one has published that it knows of it, or is dead. So one that is
// alone may rely on its memory, until the second is over for which others would watch it in vain.
//
// All times but that second are the database's. Threads: one of its own; every method from any.
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

// Longer than a node needs to renew its lease, also once the database is back.
inline constexpr std::chrono::milliseconds kGoneAfter(1'000);

// How long a node counts as alive after it has said so, and how often it says so at least.
struct LeaseTimes {
  std::chrono::milliseconds length{5'000}, renewal{500};
};

class Lease {
 public:
  // All are called on the lease's thread, and return soon.
  struct Events {
    // With each connection before it is used; what it throws counts as a failure of the database.
    std::function<void(Link&)> check;
    // Once: the row is gone, as another node has taken over.
    std::function<void()> on_lost;
    std::function<void(std::vector<task::TaskKey>)> on_adopted;
    std::function<void()> on_asked_to_drain;
    // All others have gone. This node is alone as soon as `rely_on_memory` was called with this number.
    std::function<void(std::int64_t)> on_alone_again;
  };

  Lease(const Address& address, std::int64_t node, LeaseTimes times, Events events);
  // As `leave`.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // False: it still waits for others after this time.
  bool await_joined(std::chrono::milliseconds patience);
  // Looks at the other nodes now.
  void look();
  // Gives the lease back, so that nobody has to wait for its end.
  void leave();
  void rely_on_memory(std::int64_t number) { memory_is_of_ = number; }
  void announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report);

  bool is_alone() const;
  bool has_others() const { return has_others_; }
  bool is_in_touch() const;
  bool leads() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  // Since when a node's lease has not changed.
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
  void tell_adopted();
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

  // The thread's own.
  std::unique_ptr<Link> link_;
  std::int64_t knows_;
  std::map<std::int64_t, Watched> watched_;
  Time judges_from_{}, renewed_{};  // when it may call others dead; its last sign of life
  std::int64_t crowds_ = 0;         // how often others have come
  Time adopts_at_{};                // what no node could take over
  Taken taken_;                     // and perhaps stored
  bool is_leader_ = false, has_been_asked_ = false;
  std::optional<std::string> said_;        // of its agents
  std::chrono::microseconds database_{0};  // what it took to answer the last sign of life

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
