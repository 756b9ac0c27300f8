// The rows of `nodes`: which nodes exist. A dead node has no row. Its lanes are closed, so that it cannot
// write any more, and its tasks with a turn and its part of the totals belong to another node.
//
// Threads: the link's. Errors: sql::Failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/peers.h"
#include "store/postgres/lane/link.h"
#include "store/sql/connection.h"

namespace baton::store::postgres {

// The value of `last_group` that closes a lane.
inline constexpr std::int64_t kClosedLane = -1;

struct NewNode {
  std::string name, version;
  base::Timestamp started{};
  std::chrono::milliseconds lease{};
};

// Removes all nodes, which must be gone. The link must hold the schema's lock alone, so that no node can
// enter.
void forget_nodes(Link& link);
// Makes this program a joining node with one lane, 1, and returns its number. Takes over from nodes that have
// left. If there are no other nodes, also adopts the tasks whose turn belongs to no node; otherwise see
// `adopt`.
std::int64_t enter(Link& link, const NewNode& node);

// Another node, as read by a renewal.
struct SeenNode {
  std::int64_t id = 0, knows = 0;
  std::string lease;  // its exact time of expiry
  bool is_over = false, is_long_over = false;
  bool is_joining = false, has_left = false;
};
struct Renewed {
  bool is_asked_to_drain = false;
  std::string up_since;     // the exact time of the database's start
  bool is_up_long = false;  // that is longer ago than the length of a lease, so all could renew
  std::vector<SeenNode> others;
};
// The content of a renewal: the nodes that this one knows, and its report.
struct SignOfLife {
  std::chrono::milliseconds lease{};
  std::int64_t knows = 0;
  bool is_joining = false;
  NodeReport report = {};
  std::chrono::microseconds database{0};  // the database's response time at the previous renewal
};
// Renews the node's lease and reads the other nodes. Returns nullopt if the node has no row any more.
std::optional<Renewed> renew(Link& link, std::int64_t node, const SignOfLife& sign);
// Stores the node's agents, as JSON.
void set_agents(Link& link, std::int64_t node, const std::string& agents);

// The tasks of a takeover, if one was begun.
using Taken = std::optional<std::vector<task::TaskKey>>;
// Takes over a dead node's tasks and pending deliveries. If its program has crashed, without being asked to
// stop, notes the turns that were running there (CrashedTurn). Returns false and does nothing if the node has
// renewed its lease meanwhile, another node was faster, or this node is dead itself. `taken` gets the tasks
// of these agents, or all tasks if `agents` is null and there is no other node; the remaining tasks then
// belong to no node. `taken` is filled before the commit, so if this throws, it is unknown whether they are
// this node's.
bool take_over(Link& link, std::int64_t node, std::chrono::milliseconds lease, const SeenNode& dead,
               const std::vector<task::AgentName>* agents, Taken& taken);
// Makes this node the owner of tasks of these agents whose turn belongs to no node. Every node has the agents
// that are URLs. `taken`: as above.
void adopt(Link& link, std::int64_t node, const std::vector<task::AgentName>& agents, Taken& taken);
// Returns those of the tasks whose turn is this node's.
std::vector<task::TaskKey> own_of(Link& link, std::int64_t node, const std::vector<task::TaskKey>& tasks);

// Ends the node's lease. Another node, or the next one to open the database, takes over.
void leave(Link& link, std::int64_t node);

std::vector<Node> all_nodes(sql::Connection& connection);
// Returns false if there is no such node.
bool ask_to_drain(Link& link, NodeId node);

// Format keys and names as PostgreSQL's arrays.
template <class Key>
std::string keys_array(const std::vector<Key>& keys) {
  std::string text = "{";
  for (const Key key : keys) text += (text.size() == 1 ? "" : ",") + std::to_string(key.value);
  return text + "}";
}
std::string names_array(const std::vector<task::AgentName>& agents);
// Formats agents as a JSON list.
std::string encode_agents(const std::vector<NodeAgent>& agents);

}  // namespace baton::store::postgres
