// Catalogue: the agents of this Baton, read from a folder agent-cards/ with a subfolder for each.
//
// A subfolder with a card.json is an agent, and the subfolder's name is the agent's; others are left alone.
// Threads: `reload` from one thread; else any, without a lock. Executors say themselves what they allow.
// Lifetime: the ProcessHost given to `load` must outlive the catalogue. An Agent lives as long as the
// catalogue, also when a reload has taken it out: turns, requests and streams may still need it.
#pragma once

#include <atomic>
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
  std::string card_text;               // as read
  std::unique_ptr<Executor> executor;
};

// What holds for the agents of all cards.
struct CommonRules {
  std::vector<std::string> secret_variables;  // never passed on to an agent
  bool verbose_errors = false;                // as if every card said "errors": "verbose"
  bool strict = false;                        // one wrong card is a failure
};

class Catalogue {
 public:
  // Makes the executor of an agent whose card says "executor": "builtin". It is given the agent without its
  // executor.
  using Builtin = std::function<std::unique_ptr<Executor>(const Agent&)>;
  using Builtins = std::map<std::string, Builtin, std::less<>>;

  // What was found in an agent's card. `report` has a line "<file>:<line>:<column>: <JSON pointer>: <reason>"
  // for each problem; the pointer is left out where the whole card is meant, the place where there is none.
  struct CardReport {
    std::string folder;  // its name in the agents' folder
    std::string report;
  };

  // Reads all cards. Agents whose cards are wrong are left out; with strict rules it fails with
  // invalid_argument if there is one. Fails as well if no agent is left. The error's for_log has all the
  // reports, a line for each problem.
  static base::Result<Catalogue> load(const std::filesystem::path& folder, ProcessHost& host,
                                      const Builtins& builtins = {}, const CommonRules& rules = {});

  // Reads the cards again. An agent whose card has the same text stays as it is, and so does one whose card
  // is wrong now; a changed one's turns end with the executor that began them. Fails, and changes nothing,
  // where `load` would have no agent.
  struct Reloaded {
    int added = 0, changed = 0, removed = 0;
    std::vector<CardReport> wrong;  // cards
  };
  base::Result<Reloaded> reload(const std::filesystem::path& folder, ProcessHost& host,
                                const Builtins& builtins = {}, const CommonRules& rules = {});

  // Of agents that were made elsewhere; at least one.
  explicit Catalogue(std::vector<Agent> agents) : Catalogue(std::move(agents), {}, {}) {}

  // Null: no such agent.
  const Agent* find(const task::AgentName& name) const;

  // The one whose card says so, or the only one there is. Null: there are several, and none says so. An agent
  // that was left out counts: another one must not answer in its place.
  const Agent* default_agent() const { return table().main; }

  // By name. What this and the next answer stays good, and as it is, over a reload.
  const std::vector<const Agent*>& all() const { return table().agents; }

  const std::vector<CardReport>& left_out() const { return table().left_out; }
  bool is_left_out(const task::AgentName& name) const;
  // What is odd about cards that were taken: members that nobody knows, programs that are not there. A report
  // for each.
  const std::vector<CardReport>& warnings() const { return table().warnings; }

 private:
  Catalogue(std::vector<Agent> agents, std::vector<CardReport> left_out, std::vector<CardReport> warnings);

  struct Table {
    std::vector<const Agent*> agents;  // by name
    const Agent* main = nullptr;       // the default one
    std::vector<CardReport> left_out;
    std::vector<CardReport> warnings;
  };
  // Replaced tables and agents are kept, since somebody may be using them: as many as there were reloads.
  struct State {
    std::atomic<const Table*> table{nullptr};
    std::vector<std::unique_ptr<const Table>> tables;
    std::vector<std::unique_ptr<const Agent>> agents;
  };
  const Table& table() const { return *state_->table.load(std::memory_order_acquire); }
  const Agent* keep(Agent agent);
  void show(Table table);

  std::unique_ptr<State> state_ = std::make_unique<State>();
};

// Whether a folder of this name can be an agent: lower-case letters, digits and, after the first, - _ and
// dot.
bool is_agent_name(std::string_view name);

}  // namespace baton::agents
