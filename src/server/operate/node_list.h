// Nodes: this program and the other nodes that share its store, as operators see them.
//
// While the program serves, the nodes are read every two seconds, and the result is cached. Metrics read them
// again unless the last try was less than a second ago. Probes, which must not block, use the last result.
//
// Threads: any. Lifetime: the constructor's arguments outlive it. Before it is destroyed, the pool is stopped
// and the engine has drained; peers do not ask for a report after that.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/cards/catalogue.h"
#include "base/guarded.h"
#include "base/metrics_text.h"
#include "base/worker_pool.h"
#include "engine/engine.h"

namespace baton::server {

// joining: waits until all other nodes know of it. silent: its lease has expired, so that others take over.
enum class NodeState { joining, serving, draining, silent };
inline constexpr int kNodeStates = 4;
std::string_view name_of(NodeState state);
NodeState state_of(const store::Node& node);

// An agent that differs between nodes.
struct AgentDifference {
  task::AgentName agent;
  std::vector<store::NodeId> missing;  // the nodes that do not serve it
  struct Card {
    std::string digest;
    std::vector<store::NodeId> nodes;
  };
  std::vector<Card> cards;  // all of its cards, in order of their first node
};
// The differences between the nodes that have announced their agents, in order of the agents' names.
std::vector<AgentDifference> differences(const std::vector<store::Node>& nodes);

class Nodes {
 public:
  struct Self {
    std::string name;
    std::string version;  // of the program
    base::Timestamp started{};
  };

  // `peers`: null if the store is not shared. Sets in the catalogue which agents other nodes serve.
  Nodes(store::Peers* peers, engine::Engine& engine, agents::Catalogue& catalogue, Self self,
        base::WorkerPool& readers)
      : peers_(peers), engine_(engine), catalogue_(catalogue), self_(std::move(self)), readers_(readers) {}

  bool is_shared() const { return peers_ != nullptr; }
  store::NodeId self() const { return peers_ ? peers_->self() : store::NodeId{1}; }
  // Whether this node does the work that only one node does.
  bool leads() const { return peers_ == nullptr || peers_->leads(); }

  // Announces this node, and begins to read the others. Once, before it serves.
  void start();
  // Announces to the other nodes which agents this one serves, and from then on reports on its turns. Call it
  // again when the catalogue has changed.
  void announce();
  // From now on this node's reports show that it drains.
  void drain() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }

  // All nodes, by number; only this one, without a lease, if the store is not shared. Blocks.
  base::Result<std::vector<store::Node>> read() const;

  // Remarks for probes, one per line: the differences between the nodes, which are named by number, or that
  // the database does not answer. Never blocks.
  std::string remarks() const;
  // Adds nothing if the store is not shared. Blocks.
  void add_to(base::MetricsText& out) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    std::vector<store::Node> nodes;
    Clock::time_point at{};
    bool is_old = false;  // the last read failed
  };
  using SeenPtr = std::shared_ptr<const Seen>;
  struct Last {
    SeenPtr seen;
    Clock::time_point tried{};
  };

  store::NodeReport report() const;
  std::vector<store::NodeAgent> agents() const;
  SeenPtr look() const;
  void update_catalogue(const std::vector<store::Node>& nodes) const;
  void look_after(std::chrono::milliseconds pause);

  store::Peers* const peers_;
  engine::Engine& engine_;
  agents::Catalogue& catalogue_;
  const Self self_;
  base::WorkerPool& readers_;
  std::atomic<bool> is_draining_{false};
  mutable base::Guarded<Last> last_;
};

}  // namespace baton::server
