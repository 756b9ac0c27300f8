// `baton ops`: what whoever runs a server sees and does, over its operator API.
//
// Each command prints its results and returns an exit code. On a terminal it writes for people; otherwise, or
// with `json`, JSON lines: one for each row as the server sent it.
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

// Which rows: parameters of the API's lists by their names. Empty values do not count.
using OpsFilter = std::vector<std::pair<std::string, std::string>>;

// What runs, waits, fails and is stuck, in numbers.
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
// The programs that share the store, and where their agents differ.
int ops_nodes(const OpsTarget& target);

struct OpsShowOptions {
  OpsTarget target;
  std::string key;      // or the task's id, or a part of it
  int events = 20;      // so many of the last ones
  bool follow = false;  // goes on until the task ends
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
  // Of a retry: what is sent instead of the task's message, by its parts or as a whole in JSON; empty: that.
  OutgoingParts parts;
  std::string message;
  std::optional<int> workers, concurrency;  // to scale an agent to
};
int ops_act(OpsActOptions options);
// Pauses an agent, and waits until it has no running turn.
int ops_drain(OpsActOptions options);
// Has a node drain, and waits until it is gone, unless it is the one that answers.
int ops_drain_node(OpsActOptions options);

// What is deleted for good: a task, a context, or everything of a caller.
struct OpsDeleteOptions {
  OpsTarget target;
  std::string task;                    // its key or id; or
  std::string context, agent, caller;  // `caller` alone, or all three
  std::string reason;
  bool yes = false;  // else it is said what would be deleted, and nothing is done
};
int ops_delete(OpsDeleteOptions options);

struct OpsBulkOptions {
  OpsTarget target;
  std::string action;
  OpsFilter filter;
  std::string reason;
  std::optional<std::int64_t> expected;  // unset: the tasks are counted, and nothing is done
};
int ops_bulk(OpsBulkOptions options);
// Acts on the tasks of a job that was counted, or gives it up.
struct OpsJobOptions {
  OpsTarget target;
  std::string key;
  std::int64_t expected = 0;
};
int ops_confirm(const OpsJobOptions& options);
int ops_abandon(const OpsJobOptions& options);
// A job's state and what was refused.
int ops_job(const OpsTarget& target, const std::string& key);

// Adds `ops` with its commands. `ran`: gets the exit code of the one that was run.
void add_ops(CLI::App& app, std::function<void(int)> ran);

}  // namespace baton::cli
