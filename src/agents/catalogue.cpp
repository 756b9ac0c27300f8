#include "agents/catalogue.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "agents/command/command_executor.h"
#include "agents/read_settings.h"
#include "wire/card/card.h"
#include "wire/json/document.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using wire::SchemaProblem;

constexpr std::uintmax_t kCardSizeMax = 1 << 20;

// Reads the cards one after another and gathers what is wrong with them.
class Loader {
 public:
  Loader(fs::path folder, ProcessHost& host, const Catalogue::Builtins& builtins)
      : folder_(std::move(folder)), host_(host), builtins_(builtins) {}

  base::Result<std::vector<Agent>> load() {
    std::error_code error;
    std::vector<fs::path> subfolders;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
      if (fs::exists(entry->path() / "card.json")) subfolders.push_back(entry->path());
    }
    std::sort(subfolders.begin(), subfolders.end());
    if (error) problem(folder_, {"", "cannot be read: " + error.message()});
    if (!error && subfolders.empty()) problem(folder_, {"", "has no subfolder with a card.json"});
    for (const fs::path& subfolder : subfolders) load_agent(subfolder);
    check_defaults();
    if (report_.empty()) return std::move(agents_);
    return base::fail(ErrorCode::invalid_argument, "an agent card is wrong; the log has the report", report_);
  }

 private:
  void problem(const fs::path& file, const SchemaProblem& found) {
    if (!report_.empty()) report_ += '\n';
    report_ += file.string() + ": ";
    if (!found.pointer.empty()) report_ += found.pointer + ": ";
    report_ += found.reason;
  }

  void load_agent(const fs::path& subfolder) {
    const fs::path file = subfolder / "card.json";
    Agent agent;
    agent.name.value = subfolder.filename().string();
    std::error_code error;
    agent.folder = fs::absolute(subfolder, error);
    if (!is_agent_name(agent.name.value)) {
      problem(file, {"", "the folder's name must be of a-z 0-9 - _ . and begin with a letter or digit"});
    }
    agent.read_at = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto text = read(file);
    if (!text) return problem(file, {"", text.error().for_log});
    const auto document = wire::Document::parse_view(*text);
    if (!document) return problem(file, {"", document.error().for_caller});
    std::vector<SchemaProblem> problems = wire::check_card(*text);
    if (problems.empty()) {
      agent.card = wire::read_card(document->root());
      agent.settings = read_settings(document->root()["baton"], problems);
      check_skills(agent.card.skills, "/skills/", problems);
      if (agent.card.extended) {
        check_skills(agent.card.extended->skills, "/baton/extended/skills/", problems);
      }
    }
    if (problems.empty()) make_executor(agent, problems);
    for (const SchemaProblem& found : problems) problem(file, found);
    agents_.push_back(std::move(agent));
  }

  static base::Result<std::string> read(const fs::path& file) {
    std::error_code error;
    if (fs::file_size(file, error) > kCardSizeMax || error) {
      return base::fail(ErrorCode::too_large, {}, error ? "cannot be read" : "is larger than 1 MiB");
    }
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) return base::fail(ErrorCode::not_found, {}, "cannot be read");
    return std::move(text).str();
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
    if (agent.settings.executor == AgentSettings::Kind::command) {
      agent.executor = std::make_unique<CommandExecutor>(host_, agent.name, agent.settings, agent.folder);
      return;
    }
    if (agent.settings.builtin.empty()) agent.settings.builtin = agent.name.value;
    const auto builtin = builtins_.find(agent.settings.builtin);
    if (builtin == builtins_.end()) {
      problems.push_back({"/baton", "there is no built-in executor \"" + agent.settings.builtin + "\""});
      return;
    }
    agent.executor = builtin->second(agent);
  }

  void check_defaults() {
    const Agent* first = nullptr;
    for (const Agent& agent : agents_) {
      if (!agent.settings.is_default) continue;
      if (first != nullptr) {
        problem(folder_ / agent.name.value / "card.json",
                {"/baton/default", "agent \"" + first->name.value + "\" is the default already"});
      }
      if (first == nullptr) first = &agent;
    }
  }

  const fs::path folder_;
  ProcessHost& host_;
  const Catalogue::Builtins& builtins_;
  std::vector<Agent> agents_;
  std::string report_;
};

}  // namespace

bool is_agent_name(std::string_view name) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  return !name.empty() && kFirst.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(kRest) == std::string_view::npos;
}

base::Result<Catalogue> Catalogue::load(const fs::path& folder, ProcessHost& host, const Builtins& builtins) {
  auto agents = Loader(folder, host, builtins).load();
  if (!agents) return base::fail(std::move(agents.error()));
  return Catalogue(std::move(*agents));
}

Catalogue::Catalogue(std::vector<Agent> agents) : agents_(std::move(agents)) {
  std::sort(agents_.begin(), agents_.end(), [](const Agent& a, const Agent& b) { return a.name < b.name; });
  const auto chosen = std::find_if(agents_.begin(), agents_.end(),
                                   [](const Agent& agent) { return agent.settings.is_default; });
  if (chosen != agents_.end()) default_ = static_cast<std::size_t>(chosen - agents_.begin());
}

const Agent* Catalogue::find(const task::AgentName& name) const {
  const auto found =
      std::lower_bound(agents_.begin(), agents_.end(), name,
                       [](const Agent& agent, const task::AgentName& wanted) { return agent.name < wanted; });
  return found != agents_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace baton::agents
