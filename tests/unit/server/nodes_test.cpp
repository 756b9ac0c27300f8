#include "server/operate/node_list.h"

#include <doctest/doctest.h>

#include <thread>

#include "support/engine_bench.h"
#include "support/fake_peers.h"
#include "support/patience.h"

namespace nodes_test {

using namespace baton;
using server::Nodes;
using server::NodeState;
using server::state_of;
using store::Node;
using test::FakePeers;

namespace {

Node node(std::int64_t id, std::vector<store::NodeAgent> agents = {}) {
  Node made;
  made.id = {id};
  made.lease = std::chrono::seconds(5);
  made.agents = std::move(agents);
  return made;
}

agents::Agent agent(const std::string& name, const std::string& card) {
  agents::Agent made;
  made.name.value = name;
  made.card_text = card;
  return made;
}

agents::Catalogue catalogue() {
  std::vector<agents::Agent> all;
  all.push_back(agent("echo", "a card"));
  all.push_back(agent("helper", "another card"));
  return agents::Catalogue(std::move(all));
}

struct Bench {
  explicit Bench(bool is_shared = true)
      : nodes(is_shared ? &peers : nullptr, engine.engine(), all, {"db-1", "1.2.3", {}}, pool) {}
  ~Bench() {
    engine.engine().drain();
    pool.stop();
  }

  // The remarks for probes. Waits until they are `wanted`.
  std::string remarks(const std::string& wanted) {
    nodes.start();
    (void)test::eventually([&] { return nodes.remarks() == wanted; });
    return nodes.remarks();
  }
  std::string metrics() {
    base::MetricsText out;
    nodes.add_to(out);
    return out.text();
  }
  bool shows(const std::string& line) { return metrics().find("\n" + line + "\n") != std::string::npos; }

  FakePeers peers;
  test::EngineBench engine;
  agents::Catalogue all = catalogue();
  base::WorkerPool pool{"operate", 1, 10};
  Nodes nodes;
};

}  // namespace

TEST_CASE("Nodes: agents equal on all nodes that have announced theirs give no differences") {
  CHECK(server::differences({node(1, {{{"echo"}, "a"}}), node(2, {{{"echo"}, "a"}}), node(3)}).empty());
  CHECK(server::differences({node(1, {{{"echo"}, "a"}})}).empty());
  CHECK(server::differences({}).empty());
}

TEST_CASE("Nodes: an agent that is missing on a node or has different cards is a difference") {
  const auto found = server::differences({node(1, {{{"echo"}, "a"}, {{"helper"}, "h"}, {{"old"}, "o"}}),
                                          node(2, {{{"echo"}, "b"}, {{"helper"}, "h"}}),
                                          node(5, {{{"echo"}, "a"}, {{"helper"}, "h"}, {{"old"}, "o"}})});
  REQUIRE(found.size() == 2);
  CHECK(found[0].agent.value == "echo");
  CHECK(found[0].missing.empty());
  REQUIRE(found[0].cards.size() == 2);
  CHECK(found[0].cards[0].digest == "a");
  CHECK(found[0].cards[0].nodes == std::vector<store::NodeId>{{1}, {5}});
  CHECK(found[0].cards[1].nodes == std::vector<store::NodeId>{{2}});
  CHECK(found[1].agent.value == "old");
  CHECK(found[1].missing == std::vector<store::NodeId>{{2}});
  CHECK(found[1].cards.size() == 1);
}

TEST_CASE("Nodes: the catalogue gets the agents of other nodes and which of their cards are newer") {
  Bench bench;
  const auto at = [](std::int64_t ms) { return base::from_ms(ms); };
  bench.peers.set_nodes(
      std::vector{node(2, {{{"echo"}, "x", at(0)}, {{"helper"}, "y", at(9)}, {{"old"}, "z"}})});
  bench.metrics();
  CHECK(bench.all.on_other_node({"old"}));
  CHECK_FALSE(bench.all.on_other_node({"none"}));
  CHECK(bench.all.find({"echo"}));
  CHECK(bench.all.is_newer_elsewhere({"helper"}));
  CHECK_FALSE(bench.all.is_newer_elsewhere({"old"}));
}

TEST_CASE("Nodes: a node's state is the worst one that applies") {
  Node one = node(1);
  CHECK(state_of(one) == NodeState::serving);
  one.is_joining = true;
  CHECK(state_of(one) == NodeState::joining);
  one.is_asked_to_drain = true;
  CHECK(state_of(one) == NodeState::draining);
  one.is_asked_to_drain = false;
  one.report.draining = true;
  CHECK(state_of(one) == NodeState::draining);
  one.lease = std::chrono::milliseconds(-1);
  CHECK(state_of(one) == NodeState::silent);
}

TEST_CASE("Nodes: without a shared store this is the only node, and it leads") {
  Bench bench(false);
  bench.nodes.announce();
  const auto all = bench.nodes.read();
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  const Node& self = all->front();
  CHECK(self.id == bench.nodes.self());
  CHECK(self.name == "db-1");
  CHECK(self.version == "1.2.3");
  CHECK(self.agents.size() == 2);
  CHECK(state_of(self) == NodeState::serving);
  CHECK(bench.nodes.leads());
  CHECK(bench.nodes.remarks().empty());
  CHECK(bench.metrics().empty());
  bench.nodes.drain();
  CHECK(state_of(bench.nodes.read()->front()) == NodeState::draining);
}

TEST_CASE("Nodes: each card is announced by the digest of its text, and the report shows a drain") {
  Bench bench;
  bench.nodes.announce();
  const auto said = bench.peers.announced();
  REQUIRE(said.size() == 2);
  CHECK(said[0].name.value == "echo");
  CHECK(said[0].digest.size() == 32);
  CHECK(said[0].digest != said[1].digest);
  Bench same;
  same.nodes.announce();
  CHECK(same.peers.announced()[0].digest == said[0].digest);
  CHECK_FALSE(bench.peers.report().draining);
  bench.nodes.drain();
  CHECK(bench.peers.report().draining);
}

TEST_CASE("Nodes: hidden agents are announced, since they have tasks, but not shown") {
  Bench bench(false), shared;
  bench.all.add_hidden(agent("~ask", ""));
  CHECK(bench.nodes.read()->front().agents.size() == 2);
  shared.all.add_hidden(agent("~ask", ""));
  shared.nodes.announce();
  CHECK(shared.peers.announced().size() == 3);
  shared.peers.set_nodes(std::vector{node(1, shared.peers.announced())});
  CHECK(shared.nodes.read()->front().agents.size() == 2);
}

TEST_CASE("Nodes: the report has the number of running turns") {
  Bench bench;
  bench.nodes.announce();
  REQUIRE(bench.engine.submit(test::EngineBench::message("go on")));
  const auto running = bench.engine.scripted().next();
  REQUIRE(running);
  CHECK(bench.peers.report().running == 1);
  CHECK(bench.peers.report().queued == 0);
}

TEST_CASE("Nodes: probes get the differences, with nodes shown as numbers only") {
  Bench bench;
  Node second = node(2, {{{"echo"}, "b"}});
  second.name = "secret-host";
  bench.peers.set_nodes(std::vector{node(1, {{{"echo"}, "a"}, {{"old"}, "o"}}), second,
                                    node(3, {{{"echo"}, "a"}, {{"old"}, "o"}})});
  const std::string wanted =
      "differs: agent echo, with other cards on nodes 1, 3 and node 2\ndiffers: agent old, not on node 2\n";
  CHECK(bench.remarks(wanted) == wanted);
}

TEST_CASE("Nodes: probes get a remark while the database does not answer") {
  Bench bench;
  bench.peers.set_nodes(base::fail(base::ErrorCode::unavailable, "away"));
  const std::string wanted = "cannot read the nodes: the database does not answer\n";
  CHECK(bench.remarks(wanted) == wanted);
  CHECK_FALSE(bench.shows("baton_nodes{state=\"serving\"} 0"));
  bench.peers.set_nodes(std::vector{node(1)});
  CHECK(bench.remarks("").empty());
}

TEST_CASE("Nodes: metrics count nodes by state, and scrapes in quick succession read the nodes once") {
  Bench bench;
  Node leaving = node(2), frozen = node(3);
  leaving.is_asked_to_drain = true;
  frozen.lease = std::chrono::seconds(-2);
  bench.peers.set_nodes(std::vector{node(1), leaving, frozen, node(4)});
  CHECK(bench.shows("baton_nodes{state=\"serving\"} 2"));
  const int reads = bench.peers.reads();
  CHECK(bench.shows("baton_nodes{state=\"draining\"} 1"));
  CHECK(bench.shows("baton_nodes{state=\"silent\"} 1"));
  CHECK(bench.shows("baton_nodes{state=\"joining\"} 0"));
  CHECK(bench.shows("baton_node_leads 1"));
  CHECK(bench.metrics().find("\nbaton_node_lease_seconds 4.9") != std::string::npos);
  CHECK(bench.peers.reads() <= reads + 1);
}

}  // namespace nodes_test
