// NodePeers: a node's Peers: its lease, its bus, and one thread that calls the listener, so that neither
// waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "store/peers.h"
#include "store/postgres/lane/writer.h"
#include "store/postgres/nodes/bus.h"
#include "store/postgres/nodes/claims.h"
#include "store/postgres/nodes/followed_elsewhere.h"
#include "store/postgres/nodes/lease.h"
#include "store/sql/connection_pool.h"

namespace baton::store::postgres {

class NodePeers final : public Peers {
 public:
  using Taken = base::Result<std::vector<task::TaskHead>>;
  using Take = std::function<Taken(const std::vector<task::AgentName>& agents, int most)>;
  struct Place {
    const Address& address;
    Writer& writer;                            // which has its lane
    sql::ConnectionPool &readers, &operators;  // which may be opened later
    LeaseTimes times;
  };

  // Both throw sql::Failure.
  explicit NodePeers(const Place& place);
  ~NodePeers() override;

  // Fails with unavailable: other nodes are there, and do not say that they know of this one.
  base::Result<void> join();
  // What take_queued does.
  void take_by(Take take) { take_ = std::move(take); }

  NodeId self() const override { return {node_}; }
  bool is_alone() const override { return lease_->is_alone(); }
  bool is_in_touch() const override { return lease_->is_in_touch(); }
  bool hears() const override { return bus_->hears(); }
  void listen(Listener* listener) override;
  void tell(const std::vector<Grown>& tasks) override;
  void tell_followers(const std::vector<Grown>& tasks) override;
  void follow(const std::vector<Grown>& tasks) override;
  bool is_followed_elsewhere(task::TaskKey task) override;
  base::Result<Claim> claim(const task::Caller& caller, const std::string& name) override;
  base::Result<std::vector<TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const override;
  Taken take_queued(const std::vector<task::AgentName>& agents, int most) override {
    return take_(agents, most);
  }
  void announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report) override;
  base::Result<std::vector<Node>> nodes() const override;
  base::Result<void> ask_to_drain(NodeId node) override;
  void leave() override;
  bool leads() const override { return lease_->leads(); }

 private:
  // What the listener is to be called with.
  struct News {
    std::unordered_map<task::TaskKey, task::EventNumber> heard;
    bool takes_over = false;  // from a dead node: `adopted`
    bool has_missed = false, is_asked_to_drain = false, has_newcomer = false;
    std::vector<task::TaskKey> adopted, asked;  // asked: who follows them
    std::vector<Grown> followed;                // by others
    std::optional<std::int64_t> alone_again;    // Lease::Events

    // Whether there is something that is over even if there is no listener.
    bool is_for_all() const {
      return !heard.empty() || has_missed || has_newcomer || takes_over || !asked.empty() ||
             !followed.empty() || alone_again;
    }
  };
  // Adds to the news.
  template <class F>
  void note(F&& add);
  void run();
  void pass_on(Listener* listener, const News& news);

  const Address& address_;
  Writer& writer_;
  sql::ConnectionPool &readers_, &operators_;
  const std::int64_t node_;
  Take take_;

  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
  Listener* listener_ = nullptr;
  bool is_calling_ = false, is_stopping_ = false;
  std::unordered_map<task::TaskKey, bool> asking_;  // whether others have said that somebody follows them

  FollowedElsewhere followed_{base::SteadyTime::now()};
  std::shared_ptr<Claims> claims_;  // and who has one
  std::optional<Lease> lease_;
  std::optional<Bus> bus_;
  std::jthread thread_;
};

}  // namespace baton::store::postgres
