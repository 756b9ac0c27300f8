// NodePeers: the other nodes, as one node of a simulation sees them: its lease in virtual time, and a bus
// that drops, delays and duplicates messages. Behaves like PostgreSQL's peers.
//
// Threads: fibers of the node's process. One renews the lease, one calls the listener.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "shared_store.h"
#include "store/postgres/nodes/followed_elsewhere.h"

namespace baton::simulation {

class NodePeers final : public store::Peers {
 public:
  // `on_lost` is called on the renewing fiber when the node is dead.
  NodePeers(World& world, SharedStore& shared, NodeView& view, store::NodeId node,
            std::function<void()> on_lost);

  // Starts to renew the lease, and waits until all other nodes know this one.
  void join();
  // Cuts the connection to the bus for a while. Afterwards calls `missed` of the listener.
  void cut_bus(Time time);

  store::NodeId self() const override { return node_; }
  bool is_alone() const override;
  bool is_in_touch() const override { return true; }
  bool hears() const override { return !is_deaf_; }
  void listen(Listener* listener) override;
  void notify(const std::vector<store::Grown>& tasks) override;
  void notify_followers(const std::vector<store::Grown>& tasks) override;
  void follow(const std::vector<store::Grown>& tasks) override;
  // Not needed: simulated clients never leave a run.
  bool is_followed_elsewhere(task::TaskKey) override { return false; }
  // Always granted: simulated clients never begin a run.
  base::Result<Claim> claim(const task::Caller&, const std::string& name) override {
    return std::make_shared<const std::string>(name);
  }
  base::Result<std::vector<store::TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const override {
    return view_.ends(tasks);
  }
  base::Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>& agents,
                                                        int most) override {
    return view_.take_queued(agents, most);
  }
  void announce(std::vector<store::NodeAgent> agents, std::function<store::NodeReport()> report) override;
  base::Result<std::vector<store::Node>> nodes() const override;
  base::Result<void> ask_to_drain(store::NodeId node) override;
  void leave() override;
  bool leads() const override;

 private:
  // Runs at the receiving node. Lost while its bus is cut, or if it is deaf.
  using Word = std::function<void(NodePeers&)>;
  void send(const Word& word);
  void hear(const Word& word);
  void ask_all();

  void renew();
  void rest();
  bool round();
  void note_others(Time start);
  void say();
  void judge();
  bool is_judged_dead(std::int64_t number, const SharedStore::NodeRow& row) const;
  void lead(Time start);
  void pass_on();
  bool has_news() const;

  World& world_;
  SharedStore& shared_;
  NodeView& view_;
  const store::NodeId node_;
  const std::function<void()> on_lost_;
  const bool is_deaf_;

  bool has_joined_ = false, is_leaving_ = false, was_asked_ = false, is_renewing_ = false,
       is_reporting_ = false;
  bool has_others_ = false, is_reliable_ = true;  // is_reliable_: its memory is current, if it is alone
  Time renewed_{}, alone_until_{}, leads_from_{}, leads_until_{}, adopts_at_{}, cut_until_{};
  std::map<std::int64_t, std::pair<Time, Time>> watched_;  // others' leases, and since when unchanged
  std::optional<std::vector<store::NodeAgent>> agents_;
  std::function<store::NodeReport()> report_;
  Fibers::WaitList joined_, looks_, news_came_, called_;

  store::postgres::FollowedElsewhere followed_{base::SteadyTime::now()};
  std::map<task::TaskKey, task::EventNumber> heard_;
  std::vector<store::Grown> followed_by_others_;
  std::vector<task::TaskKey> adopted_;
  bool takes_over_ = false, has_missed_ = false, has_newcomer_ = false, is_asked_ = false,
       alone_again_ = false, is_calling_ = false;
  int crowds_ = 0;  // how often it has stopped being alone
  Listener* listener_ = nullptr;
};

}  // namespace baton::simulation
