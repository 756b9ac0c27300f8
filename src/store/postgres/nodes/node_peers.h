// NodePeers: implements Peers for a node with its lease, its bus, and one thread that calls the listener, so
// that neither lease nor bus waits for it.
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
    Writer& writer;                            // must already have its lane
    sql::ConnectionPool &readers, &operators;  // may be opened later
    LeaseTimes times;
  };

  // Both throw sql::Failure.
  explicit NodePeers(const Place& place);
  ~NodePeers() override;

  // Fails with unavailable if other nodes exist and do not publish that they know this one.
  base::Result<void> join();
  // Sets the function that take_queued calls.
  void take_by(Take take) { take_ = std::move(take); }

  NodeId self() const override { return {node_}; }
  bool is_alone() const override { return lease_->is_alone(); }
  bool is_in_touch() const override { return lease_->is_in_touch(); }
  bool hears() const override { return bus_->hears(); }
  void listen(Listener* listener) override;
  void notify(const std::vector<Grown>& tasks) override;
  void notify_followers(const std::vector<Grown>& tasks) override;
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
  // The pending calls of the listener.
  struct News {
    std::unordered_map<task::TaskKey, task::EventNumber> heard;
    bool takes_over = false;  // from a dead node: `adopted`
    bool has_missed = false, is_asked_to_drain = false, has_newcomer = false;
    std::vector<task::TaskKey> adopted, asked;  // asked: other nodes ask whether this one follows them
    std::vector<Grown> followed;                // tasks that other nodes follow
    std::optional<std::int64_t> alone_again;    // Lease::Events

    // Whether there is news that is handled even without a listener.
    bool is_for_all() const {
      return !heard.empty() || has_missed || has_newcomer || takes_over || !asked.empty() ||
             !followed.empty() || alone_again;
    }
  };
  // Adds to the news.
  template <class F>
  void add_news(F&& add);
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
  std::unordered_map<task::TaskKey, bool> asking_;  // open questions; true: another node follows the task

  FollowedElsewhere followed_{base::SteadyTime::now()};
  std::shared_ptr<Claims> claims_;  // shared with the holders of claims
  std::optional<Lease> lease_;
  std::optional<Bus> bus_;
  std::jthread thread_;
};

}  // namespace baton::store::postgres
