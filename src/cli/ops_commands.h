// `baton ops`: commands for operators of a server, over its operator API.
//
// Each command prints its results and returns an exit code. On a terminal it writes for people. Otherwise, or
// with `json`, it writes JSON lines, one for each row as the server sent it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/outgoing.h"
#include "client/endpoint.h"

namespace CLI {
class App;
}

namespace baton::cli {

struct OpsTarget {
  std::string url = "http://127.0.0.1:8080";
  client::Access access;
  bool json = false;
};

// Selects rows: query parameters of the API's lists by name. Empty values are ignored.
using OpsFilter = std::vector<std::pair<std::string, std::string>>;

// Prints the numbers of running, waiting, failed and stuck tasks.
int ops_overview(const OpsTarget& target);

struct OpsListOptions {
  OpsTarget target;
  OpsFilter filter;
  int limit = 50;
  bool all = false;
};
int ops_tasks(const OpsListOptions& options);
int ops_deliveries(const OpsListOptions& options);
int ops_audit(const OpsListOptions& options);
int ops_agents(const OpsTarget& target);
// Prints the nodes that share the store, and the differences between their agents.
int ops_nodes(const OpsTarget& target);

// Prints the API keys. A key itself is never among what the server tells.
int ops_keys(const OpsListOptions& options);
struct OpsKeyOptions {
  OpsTarget target;
  std::string id;      // of the key to rotate or to revoke
  std::string caller;  // of a new key, as all below but the reason
  std::string role;    // empty: caller
  std::vector<std::string> scopes, agents;
  bool own_children = false;
  std::optional<std::int64_t> seconds;  // until it expires; unset: never, or as the old one
  std::optional<std::int64_t> overlap;  // seconds that the old one stays valid
  std::string reason;
};
// Print the new key.
int ops_create_key(const OpsKeyOptions& options);
int ops_rotate_key(const OpsKeyOptions& options);
int ops_revoke_key(const OpsKeyOptions& options);

struct OpsShowOptions {
  OpsTarget target;
  std::string key;      // or the task's id, or a part of it
  int events = 20;      // the number of latest events to print
  bool follow = false;  // prints new events until the task ends
};
int ops_show(const OpsShowOptions& options);

struct OpsActOptions {
  OpsTarget target;
  std::string what;    // "tasks", "deliveries", "agents" or "nodes"
  std::string place;   // a key, a task's id or a part of it, or an agent's name
  std::string action;  // the last segment of its path
  std::string reason;
  std::string text;  // of an answer; empty: none
  std::string data;  // of an answer, as JSON; empty: none
  std::string ask;
  // The message that a retry sends, as parts or as a whole in JSON; both empty: the task's own message.
  OutgoingParts parts;
  std::string message;
  std::optional<int> workers, concurrency;  // to scale an agent to
};
int ops_act(OpsActOptions options);
// Pauses an agent, and waits until it has no running turn.
int ops_drain(OpsActOptions options);
// Makes a node drain, and waits until it is gone. Does not wait if that node is the one that answers.
int ops_drain_node(OpsActOptions options);

// Selects what to delete for good: a task, a context, or all data of a caller.
struct OpsDeleteOptions {
  OpsTarget target;
  std::string task;                    // its key or id; or
  std::string context, agent, caller;  // `caller` alone, or all three
  std::string reason;
  bool yes = false;  // false: only prints what would be deleted
};
int ops_delete(OpsDeleteOptions options);

struct OpsBulkOptions {
  OpsTarget target;
  std::string action;
  OpsFilter filter;
  std::string reason;
  std::optional<std::int64_t> expected;  // the number of tasks; unset: only counts them
};
int ops_bulk(OpsBulkOptions options);
// Confirm a counted job, which acts on its tasks, or abandon it.
struct OpsJobOptions {
  OpsTarget target;
  std::string key;
  std::int64_t expected = 0;
};
int ops_confirm(const OpsJobOptions& options);
int ops_abandon(const OpsJobOptions& options);
// Prints a job's state, and its tasks that were refused.
int ops_job(const OpsTarget& target, const std::string& key);

// Adds `ops` with its commands. `ran` gets the exit code of the command that was run.
void add_ops(CLI::App& app, std::function<void(int)> ran);

}  // namespace baton::cli
