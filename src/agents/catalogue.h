// Catalogue: the agents of this Baton, read from a folder agent-cards/ with a subfolder for each.
//
// A subfolder with a card.json is an agent, and the subfolder's name is the agent's; others are left alone.
// Threads: immutable once made; executors say themselves what they allow.
// Lifetime: the ProcessHost given to `load` must outlive the catalogue.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "base/error.h"
#include "task/card.h"

namespace baton::agents {

class ProcessHost;

struct Agent {
  task::AgentName name;
  task::AgentCard card;
  AgentSettings settings;
  std::filesystem::path folder;        // absolute; empty for agents without one
  std::chrono::sys_seconds read_at{};  // when the card was read; the epoch for agents without a folder
  std::unique_ptr<Executor> executor;
};

class Catalogue {
 public:
  // Makes the executor of an agent whose card says "executor": "builtin". It is given the agent without its
  // executor.
  using Builtin = std::function<std::unique_ptr<Executor>(const Agent&)>;
  using Builtins = std::map<std::string, Builtin, std::less<>>;

  // Reads all cards. If any is wrong, fails with invalid_argument; its for_log is a report with a line
  // "<file>: <JSON pointer>: <reason>" for each problem of each card. An empty folder is a problem too.
  static base::Result<Catalogue> load(const std::filesystem::path& folder, ProcessHost& host,
                                      const Builtins& builtins = {});

  // Of agents that were made elsewhere; at least one.
  explicit Catalogue(std::vector<Agent> agents);

  // Null: no such agent.
  const Agent* find(const task::AgentName& name) const;

  // The one whose card says so; if none does, the first by name.
  const Agent& default_agent() const { return agents_[default_]; }

  // By name.
  const std::vector<Agent>& all() const { return agents_; }

 private:
  std::vector<Agent> agents_;
  std::size_t default_ = 0;
};

// Whether a folder of this name can be an agent: lower-case letters, digits and, after the first, - _ and
// dot.
bool is_agent_name(std::string_view name);

}  // namespace baton::agents
