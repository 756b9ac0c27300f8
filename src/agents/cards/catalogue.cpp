#include "agents/cards/catalogue.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "agents/cards/files_digest.h"
#include "agents/cards/missing_agents.h"
#include "agents/cards/read_settings.h"
#include "agents/delegate_urls.h"
#include "agents/plan/plan.h"
#include "agents/tool_names.h"
#include "base/text.h"
#include "json/document.h"
#include "protocol/card/card.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using json::SchemaProblem;

constexpr std::string_view kNoAgent = "agent not found: ";
constexpr std::uintmax_t kCardSizeMax = 1 << 20;

// Whether the folder has a card. One that cannot be looked into is taken to have one, which is then reported,
// unless its name is no agent's: "lost+found".
bool has_card(const fs::path& subfolder) {
  std::error_code error;
  const fs::file_status card = fs::status(subfolder / "card.json", error);
  const bool is_unknown = card.type() == fs::file_type::none;
  return is_unknown ? is_agent_name(subfolder.filename().string()) : fs::exists(card);
}

// Reads the cards one after another and collects their problems.
class Loader {
 public:
  Loader(fs::path folder, const Catalogue::Make& make, const Catalogue::Builtins& builtins,
         const CommonRules& rules)
      : folder_(std::move(folder)), make_(make), builtins_(builtins), rules_(rules) {}

  void load() {
    std::error_code error;
    std::vector<fs::path> subfolders;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
      if (has_card(entry->path())) subfolders.push_back(entry->path());
    }
    std::sort(subfolders.begin(), subfolders.end());
    if (error) trouble_ = folder_.string() + ": cannot be read: " + error.message();
    if (!error && subfolders.empty())
      trouble_ = folder_.string() + ": contains no folder with a card.json; `baton init` makes one";
    for (const fs::path& subfolder : subfolders) load_agent(subfolder);
    for (const Agent& agent : agents) {
      check_agents(agent, agent.settings.model.tools, "/baton/model/tools");
      if (agent.settings.plan) check_agents(agent, agents_of(*agent.settings.plan), "/baton/plan");
    }
  }

  // All problems, one a line.
  std::string report() const {
    std::string all = trouble_;
    for (const Catalogue::CardReport& one : left_out) all += (all.empty() ? "" : "\n") + one.text();
    return all;
  }

  const std::string& trouble() const { return trouble_; }

  std::vector<Agent> agents;
  std::vector<std::string> folders;
  std::vector<Catalogue::CardReport> left_out;
  std::vector<Catalogue::CardReport> warnings;

 private:
  using Finding = Catalogue::Finding;
  // A card that is being read.
  struct Reading {
    fs::path file;
    std::string text;
    std::optional<json::Document> document;
    std::vector<Finding> findings;
  };

  // Other agents may be read after the one that names them.
  void check_agents(const Agent& agent, const std::vector<std::string>& named, const std::string& place) {
    for (const std::string& name : named) {
      const auto is_it = [&](const Agent& other) { return other.name.value == name; };
      if (std::any_of(agents.begin(), agents.end(), is_it)) continue;
      const bool is_url = is_agent_url(name);
      if (is_url && is_delegate_url(rules_.delegate_urls, name)) continue;
      Finding found{(agent.folder / "card.json").string(), 0, 0, place,
                    is_url ? "outbound.delegate_urls does not allow \"" + name + "\"" : missing_agent(name)};
      warnings.push_back({agent.name.value, {std::move(found)}});
    }
  }

  static Finding finding(const Reading& card, const SchemaProblem& problem) {
    Finding found{card.file.string(), 0, 0, problem.pointer, problem.reason};
    if (!card.document) return found;
    const json::Value at = json::nearest_value(card.document->root(), problem.pointer);
    const json::TextPlace place = json::place_at(card.text, at.offset());
    found.line = place.line;
    found.column = place.column;
    return found;
  }

  static void problem(Reading& card, const SchemaProblem& found) {
    card.findings.push_back(finding(card, found));
  }

  void load_agent(const fs::path& subfolder) {
    Reading card;
    card.file = subfolder / "card.json";
    Agent agent;
    agent.name.value = subfolder.filename().string();
    read_agent(subfolder, card, agent);
    folders.push_back(agent.name.value);
    if (!card.findings.empty()) {
      left_out.push_back({agent.name.value, std::move(card.findings)});
      return;
    }
    for (const SchemaProblem& found : protocol::unknown_members(card.document->root()))
      warnings.push_back({agent.name.value, {finding(card, found)}});
    for (const SchemaProblem& found : agent.settings.warnings)
      warnings.push_back({agent.name.value, {finding(card, found)}});
    for (const std::string& what : agent.executor->missing()) {
      const char* const place = agent.settings.command.empty() ? "/baton" : "/baton/command";
      warnings.push_back({agent.name.value, {finding(card, {place, what})}});
    }
    agents.push_back(std::move(agent));
  }

  void read_agent(const fs::path& subfolder, Reading& card, Agent& agent) {
    std::error_code error;
    agent.folder = fs::absolute(subfolder, error);
    if (!is_agent_name(agent.name.value)) {
      problem(card,
              {"", "the folder's name may contain only a-z 0-9 - _ . and must begin with a letter or digit"});
    }
    agent.read_at = base::SystemClock().now();
    const auto changed = fs::last_write_time(card.file, error);
    if (!error)
      agent.changed = std::chrono::time_point_cast<base::Duration>(std::chrono::file_clock::to_sys(changed));
    if (rules_.dev) agent.files = files_digest(subfolder);
    auto text = read(card.file);
    if (!text) return problem(card, {"", text.error().for_log});
    card.text = std::move(*text);
    auto document = json::Document::parse_view(card.text, {.lines = true});
    if (!document) {
      return card.findings.push_back(not_json(card, document.error().for_caller));
    }
    card.document = std::move(*document);
    const json::Value root = card.document->root();
    std::vector<SchemaProblem> problems;
    add_repeated(root, "", problems);
    if (problems.empty()) problems = protocol::check_card(card.text);
    if (problems.empty()) {
      agent.card = protocol::read_card(root);
      agent.settings = read_settings(root["baton"], agent.folder, problems);
      read_skill_inputs(root["skills"], agent.settings.tool, problems);
      apply_rules(agent.settings, problems);
      check_skills(agent.card.skills, "/skills/", problems);
      if (agent.card.extended) {
        check_skills(agent.card.extended->skills, "/baton/extended/skills/", problems);
      }
    }
    check_default(agent, problems);
    agent.card_text = card.text;
    if (problems.empty() && card.findings.empty()) make_executor(agent, problems);
    for (const SchemaProblem& found : problems) problem(card, found);
  }

  // `error` begins with "<line>:<column>: ".
  static Finding not_json(const Reading& card, const std::string& error) {
    Finding found{card.file.string(), 0, 0, {}, error};
    int read = 0;
    if (std::sscanf(error.c_str(), "%zu:%zu: %n", &found.line, &found.column, &read) == 2)
      found.reason = error.substr(static_cast<std::size_t>(read));
    return found;
  }

  void apply_rules(AgentSettings& settings, std::vector<SchemaProblem>& problems) const {
    settings.verbose_errors = settings.verbose_errors || rules_.dev;
    settings.part_files = rules_.part_files;
    for (const std::string& name : settings.env_from) {
      const auto& secret = rules_.secret_variables;
      if (std::find(secret.begin(), secret.end(), name) == secret.end()) continue;
      problems.push_back(
          {"/baton/env_from",
           "\"" + name + "\" contains a caller's token, so agents do not get it: remove it here"});
    }
  }

  static base::Result<std::string> read(const fs::path& file) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (error || size > kCardSizeMax)
      return base::fail(ErrorCode::too_large, {}, error ? "cannot be read" : "is larger than 1 MiB");
    if (size == 0) return base::fail(ErrorCode::parse_error, {}, "is empty");
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) return base::fail(ErrorCode::not_found, {}, "cannot be read");
    return std::string(base::without_mark(text.view()));
  }

  // Finds members that an object has more than once: only the last one would count.
  static void add_repeated(json::Value value, const std::string& pointer,
                           std::vector<SchemaProblem>& problems) {
    std::size_t index = 0;
    std::set<std::string_view> seen;
    for (const json::Value child : value) {
      const bool is_member = value.is_object();
      std::string at = pointer + "/" + (is_member ? std::string() : std::to_string(index++));
      for (const char c : is_member ? child.key() : std::string_view())
        at += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
      if (is_member && !seen.insert(child.key()).second)
        problems.push_back({at, "is given twice: remove one of the two"});
      add_repeated(child, at, problems);
    }
  }

  static void check_skills(const std::vector<task::Skill>& skills, const std::string& place,
                           std::vector<SchemaProblem>& problems) {
    for (auto skill = skills.begin(); skill != skills.end(); ++skill) {
      const auto same = [&](const task::Skill& other) { return other.id == skill->id; };
      if (std::find_if(skills.begin(), skill, same) == skill) continue;
      problems.push_back(
          {place + std::to_string(skill - skills.begin()) + "/id", "another skill has the same id"});
    }
  }

  void make_executor(Agent& agent, std::vector<SchemaProblem>& problems) {
    if (agent.settings.executor != AgentSettings::Kind::builtin) {
      agent.executor = make_(agent);
      return;
    }
    if (agent.settings.builtin.empty()) agent.settings.builtin = agent.name.value;
    const auto builtin = builtins_.find(agent.settings.builtin);
    if (builtin == builtins_.end()) {
      problems.push_back({"/baton", "unknown built-in executor \"" + agent.settings.builtin + "\""});
      return;
    }
    agent.executor = builtin->second(agent);
  }

  void check_default(const Agent& agent, std::vector<SchemaProblem>& problems) {
    if (!agent.settings.is_default) return;
    if (!default_.empty())
      problems.push_back(
          {"/baton/default", "agent \"" + default_ + "\" is already the default: only one agent can be"});
    if (default_.empty()) default_ = agent.name.value;
  }

  const fs::path folder_;
  const Catalogue::Make& make_;
  const Catalogue::Builtins& builtins_;
  const CommonRules& rules_;
  std::string trouble_;  // with the folder itself
  std::string default_;  // the first agent whose card says it is the default
};

}  // namespace

std::string missing_agent(const std::string& name) {
  return std::string(kNoAgent) + "\"" + name + "\"";
}

bool is_about_missing_agent(const Catalogue::Finding& finding) {
  return finding.reason.starts_with(kNoAgent);
}

bool is_agent_name(std::string_view name) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  return !name.empty() && kFirst.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(kRest) == std::string_view::npos;
}

bool is_agent_url(std::string_view name) {
  return name.find("://") != std::string_view::npos;
}

std::string Catalogue::Finding::text() const {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  text += ": ";
  if (!pointer.empty()) text += pointer + ": ";
  return text + reason;
}

std::string Catalogue::CardReport::text() const {
  std::string text;
  for (const Finding& found : findings) text += (text.empty() ? "" : "\n") + found.text();
  return text;
}

base::Result<Catalogue::Checked> Catalogue::check(const fs::path& folder, const Make& make,
                                                  const CommonRules& rules) {
  const Builtins none;
  Loader loader(folder, make, none, rules);
  loader.load();
  if (!loader.trouble().empty()) return base::fail(ErrorCode::invalid_argument, loader.trouble());
  return Checked{std::move(loader.folders), std::move(loader.left_out), std::move(loader.warnings)};
}

base::Result<Catalogue> Catalogue::load(const fs::path& folder, const Catalogue::Make& make,
                                        const Builtins& builtins, const CommonRules& rules) {
  Loader loader(folder, make, builtins, rules);
  loader.load();
  const bool is_partial = !loader.trouble().empty();
  if (is_partial || loader.agents.empty() || (rules.strict && !loader.left_out.empty())) {
    return base::fail(ErrorCode::invalid_argument, "an agent card is invalid; see the log", loader.report());
  }
  return Catalogue(std::move(loader.agents), std::move(loader.left_out), std::move(loader.warnings));
}

base::Result<Catalogue::Reloaded> Catalogue::reload(const fs::path& folder, const Catalogue::Make& make,
                                                    const Builtins& builtins, const CommonRules& rules) {
  Loader loader(folder, make, builtins, rules);
  loader.load();
  const bool is_any_kept = std::ranges::any_of(
      loader.left_out, [&](const CardReport& wrong) { return find({wrong.folder}) != nullptr; });
  // Agents that follow where reading the folder failed must not be taken for removed ones.
  if (!loader.trouble().empty() || (loader.agents.empty() && !is_any_kept)) {
    return base::fail(ErrorCode::invalid_argument, "an agent card is invalid; see the log", loader.report());
  }
  Reloaded reloaded;
  Table now;
  now.warnings = std::move(loader.warnings);
  for (Agent& agent : loader.agents) {
    const Agent* old = find(agent.name);
    const bool is_same = old != nullptr && old->card_text == agent.card_text && old->files == agent.files;
    if (!is_same) (old != nullptr ? reloaded.changed : reloaded.added).push_back(agent.name.value);
    // While all cards were read, tasks have begun with the old one.
    agent.read_at = base::SystemClock().now();
    now.agents.push_back(is_same ? old : keep(std::move(agent)));
  }
  for (CardReport& wrong : loader.left_out) {
    reloaded.wrong.push_back(wrong);
    const Agent* old = find({wrong.folder});
    if (old != nullptr) now.agents.push_back(old);
    (old != nullptr ? now.outdated : now.left_out).push_back(std::move(wrong));
  }
  std::vector<const Agent*> gone;
  std::ranges::copy_if(all(), std::back_inserter(gone), [&](const Agent* agent) {
    return std::ranges::find(now.agents, agent) == now.agents.end();
  });
  for (const Agent* agent : gone) {
    const bool is_replaced = std::ranges::count(reloaded.changed, agent->name.value) > 0;
    if (!is_replaced) reloaded.removed.push_back(agent->name.value);
  }
  show(std::move(now));
  for (const Agent* agent : gone) agent->executor->retire();
  return reloaded;
}

Catalogue::Catalogue(std::vector<Agent> agents, std::vector<CardReport> left_out,
                     std::vector<CardReport> warnings) {
  Table table;
  for (Agent& agent : agents) table.agents.push_back(keep(std::move(agent)));
  table.left_out = std::move(left_out);
  table.warnings = std::move(warnings);
  show(std::move(table));
}

const Agent* Catalogue::keep(Agent agent) {
  state_->agents.push_back(std::make_unique<const Agent>(std::move(agent)));
  return state_->agents.back().get();
}

void Catalogue::show(Table table) {
  std::ranges::sort(table.agents, {}, &Agent::name);
  const auto chosen =
      std::ranges::find_if(table.agents, [](const Agent* agent) { return agent->settings.is_default; });
  const bool is_alone = table.agents.size() == 1 && table.left_out.empty();
  if (chosen != table.agents.end()) {
    table.main = *chosen;
  } else if (is_alone) {
    table.main = table.agents.front();
  }
  name_tools(table);
  state_->tables.push_back(std::make_unique<const Table>(std::move(table)));
  state_->table.store(state_->tables.back().get(), std::memory_order_release);
}

namespace {

std::vector<Catalogue::Tool> own_tools(const Catalogue::Tool& whole) {
  const std::vector<task::Skill>& skills = whole.agent->card.skills;
  if (skills.size() < 2 || whole.agent->settings.tool.skills.empty()) return {whole};
  ToolNames names;
  std::vector<Catalogue::Tool> tools;
  for (const task::Skill& skill : skills) tools.push_back({names.add(skill.id), whole.agent, &skill});
  return tools;
}

}  // namespace

// Agents whose names need no change come first, so that no other agent can take the name of their tool.
void Catalogue::name_tools(Table& table) {
  for (const Agent* agent : table.agents) {
    if (agent->settings.tool.is_offered) table.tools.push_back({{}, agent});
  }
  ToolNames names;
  for (const bool keeps : {true, false}) {
    for (Tool& tool : table.tools) {
      const std::string& name = tool.agent->name.value;
      if ((tool_name(name) == name) == keeps) tool.name = names.add(name);
    }
  }
  for (const Tool& tool : table.tools) {
    table.tools_by_name.emplace(tool.name, &tool);
    table.own_tools.emplace(tool.agent, own_tools(tool));
  }
}

const ToolInput& Catalogue::Tool::input() const {
  static const ToolInput none;
  if (skill == nullptr) return agent->settings.tool.input;
  const auto found = agent->settings.tool.skills.find(skill->id);
  return found == agent->settings.tool.skills.end() ? none : found->second;
}

const Catalogue::Tool* Catalogue::find_tool(std::string_view name) const {
  const auto found = table().tools_by_name.find(name);
  return found == table().tools_by_name.end() ? nullptr : found->second;
}

const std::vector<Catalogue::Tool>& Catalogue::tools_of(const Agent& agent) const {
  static const std::vector<Tool> none;
  const auto found = table().own_tools.find(&agent);
  return found == table().own_tools.end() ? none : found->second;
}

const Catalogue::Tool* Catalogue::find_tool_of(const Agent& agent, std::string_view name) const {
  const std::vector<Tool>& own = tools_of(agent);
  const auto found = std::ranges::find(own, name, &Tool::name);
  if (found != own.end()) return &*found;
  const Tool* const whole = find_tool(name);
  return whole != nullptr && whole->agent == &agent ? whole : nullptr;
}

bool Catalogue::is_left_out(const task::AgentName& name) const {
  return std::ranges::any_of(left_out(), [&](const CardReport& one) { return one.folder == name.value; });
}

void Catalogue::add_hidden(Agent agent) {
  state_->hidden.push_back(keep(std::move(agent)));
}

void Catalogue::add_elsewhere(Agent agent, std::function<bool(std::string_view url)> knows) {
  add_hidden(std::move(agent));
  state_->elsewhere = state_->hidden.back();
  state_->knows_url = std::move(knows);
}

bool Catalogue::is_newer_elsewhere(const task::AgentName& name) const {
  return state_->on_other_nodes.with([&](const OnOtherNodes& others) { return others.newer.contains(name); });
}

void Catalogue::set_on_other_nodes(const std::vector<task::AgentName>& names,
                                   std::set<task::AgentName> newer) {
  state_->on_other_nodes.with([&](OnOtherNodes& others) {
    others.newer = std::move(newer);
    others.now = {names.begin(), names.end()};
    for (const task::AgentName& name : names) {
      std::unique_ptr<const Agent>& known = others.known[name];
      if (known) continue;
      Agent agent;
      agent.name = name;
      known = std::make_unique<const Agent>(std::move(agent));
    }
  });
}

const Agent* Catalogue::on_other_node(const task::AgentName& name) const {
  return state_->on_other_nodes.with([&](const OnOtherNodes& others) -> const Agent* {
    return others.now.contains(name) ? others.known.at(name).get() : nullptr;
  });
}

const Agent* Catalogue::find_skilled(const std::string& skill, const std::string& tag) const {
  const auto has = [&](const Agent* agent) {
    const auto& skills = agent->card.skills;
    const bool knows = skill.empty() || std::ranges::count(skills, skill, &task::Skill::id) > 0;
    return knows && (tag.empty() || std::ranges::any_of(skills, [&](const task::Skill& one) {
                       return std::ranges::count(one.tags, tag) > 0;
                     }));
  };
  const auto found = std::ranges::find_if(all(), has);
  return found == all().end() ? nullptr : *found;
}

const Agent* Catalogue::find(const task::AgentName& name) const {
  if (is_agent_url(name.value)) {
    const bool is_known = state_->elsewhere != nullptr && state_->knows_url(name.value);
    return is_known ? state_->elsewhere : nullptr;
  }
  if (!name.value.empty() && !is_agent_name(name.value)) {
    const auto hidden = std::ranges::find(state_->hidden, name, &Agent::name);
    return hidden == state_->hidden.end() ? nullptr : *hidden;
  }
  const std::vector<const Agent*>& agents = all();
  const auto found = std::lower_bound(
      agents.begin(), agents.end(), name,
      [](const Agent* agent, const task::AgentName& wanted) { return agent->name < wanted; });
  return found != agents.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace baton::agents
