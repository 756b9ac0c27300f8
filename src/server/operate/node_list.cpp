#include "server/operate/node_list.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/sha256.h"

namespace baton::server {
namespace {

using Millis = std::chrono::milliseconds;
using store::Node;
using store::NodeId;

constexpr std::chrono::seconds kFresh{1}, kPause{2};

std::string digest_of(std::string_view card) {
  base::Sha256 hash;
  hash.add(card);
  const auto bits = hash.first_128_bits();
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(bits[0]),
                static_cast<unsigned long long>(bits[1]));
  return text.data();
}

// "node 2", "nodes 2, 3".
std::string named(const std::vector<NodeId>& nodes) {
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  for (const NodeId& node : nodes) {
    if (&node != &nodes.front()) text += ", ";
    text += std::to_string(node.value);
  }
  return text;
}

std::string line_of(const AgentDifference& difference) {
  std::string text = "differs: agent " + difference.agent.value;
  if (!difference.missing.empty()) text += ", not on " + named(difference.missing);
  if (difference.cards.size() > 1) {
    const char* before = ", with other cards on ";
    for (const AgentDifference::Card& card : difference.cards)
      text.append(std::exchange(before, " and ")).append(named(card.nodes));
  }
  return text + "\n";
}

// Removes the agents that no caller can name. Those are announced only because they have tasks.
Node shown(Node node) {
  std::erase_if(node.agents,
                [](const store::NodeAgent& agent) { return !agents::is_agent_name(agent.name.value); });
  return node;
}

// The digest decides between cards of the same age, so that all nodes choose the same one.
bool is_newer(const store::NodeAgent& one, const store::NodeAgent& other) {
  return one.digest != other.digest &&
         std::tie(one.changed, one.digest) > std::tie(other.changed, other.digest);
}

}  // namespace

std::string_view name_of(NodeState state) {
  constexpr std::array<std::string_view, kNodeStates> kNames{"joining", "serving", "draining", "silent"};
  return kNames[static_cast<std::size_t>(state)];
}

NodeState state_of(const Node& node) {
  if (node.lease < Millis(0)) return NodeState::silent;
  if (node.report.draining || node.is_asked_to_drain) return NodeState::draining;
  return node.is_joining ? NodeState::joining : NodeState::serving;
}

std::vector<AgentDifference> differences(const std::vector<Node>& nodes) {
  std::map<std::string, AgentDifference> by_name;
  const auto has_said = [](const Node& node) { return !node.agents.empty(); };  // a node that serves has one
  for (const Node& node : nodes) {
    for (const store::NodeAgent& agent : node.agents) {
      AgentDifference& found = by_name[agent.name.value];
      found.agent = agent.name;
      auto card = std::ranges::find(found.cards, agent.digest, &AgentDifference::Card::digest);
      if (card == found.cards.end()) card = found.cards.insert(card, {agent.digest, {}});
      card->nodes.push_back(node.id);
    }
  }
  std::vector<AgentDifference> all;
  for (auto& [name, found] : by_name) {
    for (const Node& node : nodes) {
      const bool has_it =
          std::ranges::find(node.agents, found.agent, &store::NodeAgent::name) != node.agents.end();
      if (has_said(node) && !has_it) found.missing.push_back(node.id);
    }
    if (found.cards.size() > 1 || !found.missing.empty()) all.push_back(std::move(found));
  }
  return all;
}

store::NodeReport Nodes::report() const {
  const engine::Scheduler::Counts turns = engine_.counts().turns;
  Millis lag(0);
  if (turns.queued > 0) {
    for (const auto& agent : engine_.agent_turns())
      lag = std::max(lag, std::chrono::floor<Millis>(agent.oldest_queued));
  }
  return {turns.running, turns.queued, is_draining_, lag};
}

std::vector<store::NodeAgent> Nodes::agents() const {
  std::vector<store::NodeAgent> all;
  for (const auto* list : {&catalogue_.all(), &catalogue_.hidden()}) {
    for (const agents::Agent* agent : *list)
      all.push_back({agent->name, digest_of(agent->card_text), agent->changed});
  }
  return all;
}

void Nodes::start() {
  announce();
  if (peers_ != nullptr) look_after(Millis(0));
}

void Nodes::announce() {
  if (peers_ == nullptr) return;
  peers_->announce(agents(), [this] { return report(); });
}

base::Result<std::vector<Node>> Nodes::read() const {
  if (peers_ == nullptr) {
    return std::vector{shown(
        {self(), self_.name, self_.version, self_.started, Millis(0), report(), {}, false, false, agents()})};
  }
  auto nodes = peers_->nodes();
  if (nodes) std::ranges::transform(*nodes, nodes->begin(), shown);
  return nodes;
}

// Reads the nodes, unless that was done or tried a moment ago.
Nodes::SeenPtr Nodes::look() const {
  const Clock::time_point now = Clock::now();
  const SeenPtr before =
      last_.with([&](Last& last) { return now - last.tried < kFresh ? last.seen : nullptr; });
  if (before) return before;
  auto nodes = read();
  if (nodes) update_catalogue(*nodes);
  return last_.with([&](Last& last) {
    Seen seen = last.seen ? *last.seen : Seen();
    seen.is_old = !nodes;
    if (nodes) seen = {std::move(*nodes), now, false};
    last.tried = now;
    last.seen = std::make_shared<const Seen>(std::move(seen));
    return last.seen;
  });
}

void Nodes::update_catalogue(const std::vector<Node>& nodes) const {
  const std::vector<store::NodeAgent> own = agents();
  std::vector<task::AgentName> others;
  std::set<task::AgentName> newer;
  for (const Node& node : nodes) {
    if (node.id == self() || state_of(node) == NodeState::silent) continue;
    for (const store::NodeAgent& agent : node.agents) {
      others.push_back(agent.name);
      const auto here = std::ranges::find(own, agent.name, &store::NodeAgent::name);
      if (here != own.end() && is_newer(agent, *here)) newer.insert(agent.name);
    }
  }
  catalogue_.set_on_other_nodes(others, std::move(newer));
}

// Reads the nodes after the pause, and then every kPause, one read at a time. Once the engine has drained,
// neither the timers nor the pool run any more.
void Nodes::look_after(Millis pause) {
  engine_.after(pause, [this] {
    const bool taken = readers_.try_submit([this] {
      look();
      look_after(kPause);
    });
    if (!taken) look_after(kPause);
  });
}

std::string Nodes::remarks() const {
  const SeenPtr seen = last_.with([](const Last& last) { return last.seen; });
  if (!seen) return {};
  if (seen->is_old) return "cannot read the nodes: the database does not answer\n";
  std::string text;
  for (const AgentDifference& difference : differences(seen->nodes)) text += line_of(difference);
  return text;
}

void Nodes::add_to(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  if (peers_ == nullptr) return;
  const SeenPtr seen = look();
  std::array<std::int64_t, kNodeStates> counts{};
  std::optional<Millis> lease;
  for (const Node& node : seen->nodes) {
    ++counts[static_cast<std::size_t>(state_of(node))];
    if (node.id == self()) lease = node.lease;
  }
  if (!seen->is_old) {
    out.family("baton_nodes", Type::gauge, "Nodes that share the database, by state.");
    for (int i = 0; i < kNodeStates; ++i)
      out.value({{"state", name_of(static_cast<NodeState>(i))}}, counts[static_cast<std::size_t>(i)]);
  }
  out.gauge("baton_node_leads",
            "1 on the node that does the work of only one node, retention and bulk jobs; else 0.",
            std::int64_t{leads()});
  if (!lease) return;
  const std::chrono::duration<double> left = *lease - (Clock::now() - seen->at);
  out.gauge("baton_node_lease_seconds",
            "Seconds left of this node's lease, as the database last confirmed it; below 0 it has expired.",
            left.count());
}

}  // namespace baton::server
