#include "app/check_cards.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "agents/cards/missing_agents.h"
#include "app/executors.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/worker_pool.h"

namespace baton::app {
namespace {

namespace fs = std::filesystem;

using Reports = std::vector<agents::Catalogue::CardReport>;

template <class IsWrong>
void add(const Reports& reports, IsWrong&& is_wrong, CheckedCards& checked) {
  for (const auto& report : reports) {
    for (const auto& finding : report.findings)
      checked.findings.push_back({report.folder, is_wrong(finding), finding});
  }
}

}  // namespace

AgentFolder agent_folder(const fs::path& named) {
  std::error_code none;
  if (!fs::exists(named / "card.json", none)) return {named, {}};
  const fs::path whole = fs::absolute(named, none).lexically_normal();
  const fs::path own = whole.has_filename() ? whole : whole.parent_path();
  const fs::path short_own = named.has_filename() ? named : named.parent_path();
  // A path such as "." does not contain the agent's name.
  if (short_own.filename() != own.filename()) return {own.parent_path(), own.filename()};
  return {short_own.has_parent_path() ? short_own.parent_path() : fs::path("."), own.filename()};
}

bool is_agent_name(std::string_view name) {
  return agents::is_agent_name(name);
}

bool CheckedCards::are_right() const {
  return std::ranges::none_of(findings, &CardFinding::is_wrong);
}

base::Result<CheckedCards> check_cards(const fs::path& folder, bool allows_missing) {
  agents::ProcessHost processes;
  base::EventLoop turns("turn-loop");  // no turn runs
  base::WorkerPool callers("agent-call", 1, 1);
  const base::SystemClock clock;
  const auto choose = [](const std::string&, const std::string&) { return std::optional<std::string>(); };
  const ExecutorServices services{processes, callers, {turns, callers, callers}, {}, clock, choose};
  // Checks the whole folder of agents even for a single one, because cards may name other agents.
  const AgentFolder place = agent_folder(folder);
  auto read = agents::Catalogue::check(place.agents, executors(services));
  if (!read) return base::fail(std::move(read.error()));
  CheckedCards checked;
  checked.agents = std::move(read->folders);
  using Finding = agents::Catalogue::Finding;
  add(
      read->wrong, [](const Finding&) { return true; }, checked);
  add(
      read->warnings,
      [&](const Finding& found) { return !allows_missing && agents::is_about_missing_agent(found); },
      checked);
  if (!place.name.empty()) {
    std::erase_if(checked.agents, [&](const std::string& agent) { return agent != place.name; });
    std::erase_if(checked.findings, [&](const CardFinding& found) { return found.agent != place.name; });
  }
  std::ranges::stable_sort(checked.findings, {},
                           [](const CardFinding& found) { return std::tuple(found.agent, !found.is_wrong); });
  return checked;
}

}  // namespace baton::app
