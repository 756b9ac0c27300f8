// Catalogue: the agents of this Baton, read from a folder agent-cards/ with a subfolder for each.
//
// A subfolder with a card.json is an agent with the subfolder's name; other subfolders are ignored.
// Threads: `reload` from one thread; the rest from any, without a lock. For executors see executor.h.
// Lifetime: what the given factories use must outlive the catalogue. An Agent lives as long as the
// catalogue, even after a reload has removed it: turns, requests and streams may still need it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "task/card.h"

namespace baton::agents {

struct Agent {
  task::AgentName name;
  task::AgentCard card;
  AgentSettings settings;
  std::filesystem::path folder;  // absolute; empty for agents without one
  // Since when the card is in use: tasks that were created before may have begun with another one. The epoch
  // for agents without a folder.
  base::Timestamp read_at{};
  base::Timestamp changed{};  // when the card's file was last modified; 0 without a folder
  std::string card_text;      // as read
  std::uint64_t files = 0;    // files_digest of the folder, with CommonRules::dev; else 0
  std::unique_ptr<Executor> executor;

  // The card to show. Valid while both the returned pointer and this Agent live.
  std::shared_ptr<const task::AgentCard> shown_card() const {
    auto other = executor ? executor->card() : nullptr;
    return other ? other : std::shared_ptr<const task::AgentCard>(std::shared_ptr<void>(), &card);
  }
};

// Rules for all agents.
struct CommonRules {
  std::vector<std::string> secret_variables;  // never passed on to an agent
  // For development: every agent gets "errors": "verbose", and `reload` treats an agent as changed if any
  // file in its folder has changed.
  bool dev = false;
  bool strict = false;                          // `load` fails if a single card is wrong
  std::vector<std::string> delegate_urls = {};  // agents elsewhere without cards: see delegate_urls.h
  PartFileLimits part_files = {};
};

class Catalogue {
 public:
  // Makes an agent's executor. The agent has none yet.
  using Make = std::function<std::unique_ptr<Executor>(const Agent&)>;
  // Keyed by the name that a card with "executor": "builtin" gives.
  using Builtins = std::map<std::string, Make, std::less<>>;

  // An error or a warning about a card.
  struct Finding {
    std::string file;                  // the card's
    std::size_t line = 0, column = 0;  // counted from 1; 0: no position
    std::string pointer;               // JSON pointer; empty: the whole card
    std::string reason;

    // "<file>:<line>:<column>: <JSON pointer>: <reason>"; absent parts are left out.
    std::string text() const;
  };
  // The findings about one agent's card.
  struct CardReport {
    std::string folder;  // its name in the agents' folder
    std::vector<Finding> findings;

    // One line per finding.
    std::string text() const;
  };

  // Reads all cards as `load` does and reports on them. Fails with invalid_argument if the folder cannot
  // be read or has no card.
  struct Checked {
    std::vector<std::string> folders;  // of all agents, by name
    std::vector<CardReport> wrong, warnings;
  };
  static base::Result<Checked> check(const std::filesystem::path& folder, const Make& make,
                                     const CommonRules& rules = {});

  // Reads all cards. `make` makes the executors, except the built-in ones. Leaves out agents whose cards
  // are wrong. Fails with invalid_argument if no agent is left, if the folder cannot be read to its end or,
  // with strict rules, if any card is wrong. The error's for_log has a line for each problem.
  static base::Result<Catalogue> load(const std::filesystem::path& folder, const Make& make,
                                      const Builtins& builtins = {}, const CommonRules& rules = {});

  // Reads the cards again. An agent stays as it is if its card (with `dev`, also its files) has not
  // changed, or is now wrong. The running turns of a changed agent finish with their old executor. Fails
  // and changes nothing if no agent would be left, or if the folder cannot be read to its end.
  struct Reloaded {
    std::vector<std::string> added, changed, removed;  // the agents' names
    std::vector<CardReport> wrong;                     // the cards that are wrong now
  };
  base::Result<Reloaded> reload(const std::filesystem::path& folder, const Make& make,
                                const Builtins& builtins = {}, const CommonRules& rules = {});

  // A catalogue of the given agents; at least one.
  explicit Catalogue(std::vector<Agent> agents) : Catalogue(std::move(agents), {}, {}) {}

  // Adds an agent that only `find` returns, such as one that plans delegate to. Not thread-safe; call it
  // before the catalogue is used.
  void add_hidden(Agent agent);
  const std::vector<const Agent*>& hidden() const { return state_->hidden; }
  // Adds a hidden agent that `find` also returns for each URL that `knows` accepts. Tasks keep the URL as
  // the name of their agent. Call it at most once, before the catalogue is used; `knows` may be called
  // from any thread.
  void add_elsewhere(Agent agent, std::function<bool(std::string_view url)> knows);

  // Replaces the list of agents that other nodes on the same store serve. `newer`: those of them whose
  // cards are newer there than here. Threads: any.
  void set_on_other_nodes(const std::vector<task::AgentName>& names, std::set<task::AgentName> newer);
  bool is_newer_elsewhere(const task::AgentName& name) const;
  // Returns an agent that another node serves; only its name is set. Its tasks can be read and canceled
  // here. Null if there is no such agent.
  const Agent* on_other_node(const task::AgentName& name) const;

  // The first agent that has a skill with this id and a skill with this tag; an empty argument matches
  // every agent. Null if there is none.
  const Agent* find_skilled(const std::string& skill, const std::string& tag) const;

  // Null if there is no such agent.
  const Agent* find(const task::AgentName& name) const;

  // The agent whose card says it is the default, or else the only agent; null if there is neither. Agents
  // left out count here: another one must not answer in their place.
  const Agent* default_agent() const { return table().main; }

  // Sorted by name. The lists returned here, by `left_out` and by `outdated` stay valid and unchanged across
  // a reload.
  const std::vector<const Agent*>& all() const { return table().agents; }

  // An agent as a tool. The name is unique among the agents of this catalogue (ToolNames); an agent whose own
  // name needs no change has it as its tool's. Or one skill of an agent as a tool, with a name that is unique
  // among the skills of its agent.
  struct Tool {
    std::string name;
    const Agent* agent = nullptr;
    const task::Skill* skill = nullptr;  // null: the whole agent

    const ToolInput& input() const;
  };
  // In the order of `all`, without the agents whose cards say that they are no tool. Valid as `all` is.
  const std::vector<Tool>& tools() const { return table().tools; }
  // Null if there is no such tool.
  const Tool* find_tool(std::string_view name) const;
  // The tools of one agent: its skills, if its card has several and at least one names a schema; else
  // the whole agent. Empty if the agent is no tool. Valid as `all` is.
  const std::vector<Tool>& tools_of(const Agent& agent) const;
  // One of these tools, or the whole agent; null if there is no such tool.
  const Tool* find_tool_of(const Agent& agent, std::string_view name) const;

  const std::vector<CardReport>& left_out() const { return table().left_out; }
  bool is_left_out(const task::AgentName& name) const;
  // The cards that were wrong at the last reload and whose agents still use their previous cards. These
  // agents will be left out at the next start.
  const std::vector<CardReport>& outdated() const { return table().outdated; }
  // Warnings about accepted cards, one finding per report: unknown members, missing programs.
  const std::vector<CardReport>& warnings() const { return table().warnings; }

 private:
  Catalogue(std::vector<Agent> agents, std::vector<CardReport> left_out, std::vector<CardReport> warnings);

  struct Table {
    std::vector<const Agent*> agents;  // sorted by name
    const Agent* main = nullptr;       // the default one
    std::vector<Tool> tools;
    std::unordered_map<std::string_view, const Tool*> tools_by_name;  // views into `tools`
    std::unordered_map<const Agent*, std::vector<Tool>> own_tools;
    std::vector<CardReport> left_out;
    std::vector<CardReport> warnings;
    std::vector<CardReport> outdated;
  };
  struct OnOtherNodes {
    std::map<task::AgentName, std::unique_ptr<const Agent>> known;  // now or before
    std::set<task::AgentName> now, newer;
  };
  // Replaced tables and agents are kept, because they may be in use. They grow with the number of reloads.
  struct State {
    std::atomic<const Table*> table{nullptr};
    std::vector<std::unique_ptr<const Table>> tables;
    std::vector<std::unique_ptr<const Agent>> agents;
    std::vector<const Agent*> hidden;
    const Agent* elsewhere = nullptr;  // one of `hidden`, or null
    std::function<bool(std::string_view url)> knows_url;
    base::Guarded<OnOtherNodes> on_other_nodes;
  };
  const Table& table() const { return *state_->table.load(std::memory_order_acquire); }
  const Agent* keep(Agent agent);
  void show(Table table);
  static void name_tools(Table& table);

  std::unique_ptr<State> state_ = std::make_unique<State>();
};

// Whether a folder with this name can be an agent: lower-case letters, digits and, after the first character,
// also - _ and dot.
bool is_agent_name(std::string_view name);
// Whether `name` is written as the URL of an agent elsewhere.
bool is_agent_url(std::string_view name);

}  // namespace baton::agents
