// The rows of `nodes`: who there is, and who is dead. A node that is dead has no row; its lanes are closed,
// so that it writes nothing more, and its tasks with a turn and its part of the totals are another one's.
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

// `last_group` of a lane through which nothing comes any more.
inline constexpr std::int64_t kClosedLane = -1;

struct NewNode {
  std::string name, version;
  base::Timestamp started{};
  std::chrono::milliseconds lease{};
};

// All nodes are gone, and nobody else can enter, as the schema's lock is this link's alone.
void forget_nodes(Link& link);
// Makes this program a node that joins, with one lane, 1. Takes over from those that have left. Without
// others the tasks whose turn is of no node are its own; else see `adopt`. Returns its number.
std::int64_t enter(Link& link, const NewNode& node);

// Of another node, as a renewal sees it.
struct SeenNode {
  std::int64_t id = 0, knows = 0;
  std::string lease;  // when it ends, exactly
  bool is_over = false, is_long_over = false;
  bool is_joining = false, has_left = false;
};
struct Renewed {
  bool is_asked_to_drain = false;
  bool is_up_long = false;  // the database: nodes have had the time of a lease to say that they are alive
  std::vector<SeenNode> others;
};
// What a node says with a sign of life: which others it has known until now, and what it does.
struct SignOfLife {
  std::chrono::milliseconds lease{};
  std::int64_t knows = 0;
  bool is_joining = false;
  NodeReport report = {};
  std::chrono::microseconds database{0};  // what it took to answer the one before
};
// Nothing: the node has no row any more.
std::optional<Renewed> renew(Link& link, std::int64_t node, const SignOfLife& sign);
// The node's agents, as JSON.
void set_agents(Link& link, std::int64_t node, const std::string& agents);

// What has been taken over, if that was begun.
using Taken = std::optional<std::vector<task::TaskKey>>;
// Takes a dead node's tasks over, and what it had to send; if its program has died without being asked to
// stop, notes which turns ran there (CrashedTurn). False, and nothing is done: it has said meanwhile
// that it is alive, another one was faster, or this node is dead itself. `taken`: its tasks of these agents,
// or with null all if nobody else is there; the others are of no node then. It is filled before the commit,
// so where this fails nobody knows whether they are this node's.
bool take_over(Link& link, std::int64_t node, std::chrono::milliseconds lease, const SeenNode& dead,
               const std::vector<task::AgentName>* agents, Taken& taken);
// Makes the tasks of these agents whose turn is of no node this one's. Agents that are URLs are everybody's.
// `taken`: as above.
void adopt(Link& link, std::int64_t node, const std::vector<task::AgentName>& agents, Taken& taken);
// Those of the tasks whose turn is this node's.
std::vector<task::TaskKey> own_of(Link& link, std::int64_t node, const std::vector<task::TaskKey>& tasks);

// The lease is over; another node, or the next one to open the database, takes over.
void leave(Link& link, std::int64_t node);

std::vector<Node> all_nodes(sql::Connection& connection);
// False: there is no such node.
bool ask_to_drain(Link& link, NodeId node);

// As arrays of PostgreSQL's.
template <class Key>
std::string keys_array(const std::vector<Key>& keys) {
  std::string text = "{";
  for (const Key key : keys) text += (text.size() == 1 ? "" : ",") + std::to_string(key.value);
  return text + "}";
}
std::string names_array(const std::vector<task::AgentName>& agents);
// As a JSON list.
std::string encode_agents(const std::vector<NodeAgent>& agents);

}  // namespace baton::store::postgres
