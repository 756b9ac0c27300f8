#include "app/check_cards.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "agents/cards/missing_agents.h"
#include "app/executors.h"
#include "app/files.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "json/document.h"
#include "protocol/card/card.h"
#include "protocol/card/signed_forms.h"
#include "protocol/card/views.h"

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

// Adds a warning for each empty value that keeps the card from being signed. Cards of agents elsewhere are
// completed by theirs.
void add_unsigned(const fs::path& file, const std::string& agent, CheckedCards& checked) {
  constexpr std::size_t kCardMax = 1 << 20;
  const auto text = read_text_file(file.string(), kCardMax);
  if (!text) return;
  const auto document = json::Document::view_of(*text);
  const json::Value root = document.root();
  if (root["baton"]["executor"].string() == "a2a") return;
  const task::AgentCard card = protocol::read_card(root);
  const std::string view =
      protocol::write_card({card, "https://host/", "https://host", ""}, protocol::CardView::v1_0);
  for (const std::string& pointer : protocol::empty_values(json::Document::view_of(view).root())) {
    const json::TextPlace place = json::place_at(*text, json::nearest_value(root, pointer).offset());
    checked.findings.push_back({agent,
                                false,
                                {file.string(), place.line, place.column, pointer,
                                 "is empty, so the card cannot be signed (cards.signing_key)"}});
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
  for (const std::string& agent : checked.agents) {
    const auto is_it = [&](const CardFinding& found) { return found.agent == agent && found.is_wrong; };
    if (std::ranges::none_of(checked.findings, is_it))
      add_unsigned(place.agents / agent / "card.json", agent, checked);
  }
  if (!place.name.empty()) {
    std::erase_if(checked.agents, [&](const std::string& agent) { return agent != place.name; });
    std::erase_if(checked.findings, [&](const CardFinding& found) { return found.agent != place.name; });
  }
  std::ranges::stable_sort(checked.findings, {},
                           [](const CardFinding& found) { return std::tuple(found.agent, !found.is_wrong); });
  return checked;
}

}  // namespace baton::app
