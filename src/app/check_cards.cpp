#include "app/check_cards.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/executors.h"
#include "base/clock.h"
#include "base/worker_pool.h"

namespace baton::app {
namespace {

namespace fs = std::filesystem;

using Reports = std::vector<agents::Catalogue::CardReport>;

void add(const Reports& reports, bool are_wrong, CheckedCards& checked) {
  for (const auto& report : reports) {
    for (const auto& finding : report.findings)
      checked.findings.push_back({report.folder, are_wrong, finding});
  }
}

// The folder that the agent's own is in, as it was named.
fs::path around(const fs::path& named, const fs::path& whole) {
  const fs::path own = named.has_filename() ? named : named.parent_path();
  const bool is_plain = own.filename() == whole.filename();
  return !is_plain ? whole.parent_path() : own.has_parent_path() ? own.parent_path() : fs::path(".");
}

}  // namespace

bool CheckedCards::are_right() const {
  return std::ranges::none_of(findings, &CardFinding::is_wrong);
}

base::Result<CheckedCards> check_cards(const fs::path& folder) {
  agents::ProcessHost processes;
  base::WorkerPool callers("agent-call", 1, 1);
  const base::SystemClock clock;
  const auto choose = [](const std::string&, const std::string&) { return std::optional<std::string>(); };
  const ExecutorServices services{processes, callers, {}, clock, choose};
  std::error_code none;
  // Which other agents there are is told by the folder around it.
  const bool is_one = fs::exists(folder / "card.json", none);
  const fs::path whole = fs::absolute(folder, none).lexically_normal();
  const fs::path own = whole.has_filename() ? whole : whole.parent_path();
  auto read = agents::Catalogue::check(is_one ? around(folder, own) : folder, executors(services));
  if (!read) return base::fail(std::move(read.error()));
  CheckedCards checked;
  checked.agents = std::move(read->folders);
  add(read->wrong, true, checked);
  add(read->warnings, false, checked);
  if (is_one) {
    const std::string name = own.filename().string();
    std::erase_if(checked.agents, [&](const std::string& agent) { return agent != name; });
    std::erase_if(checked.findings, [&](const CardFinding& found) { return found.agent != name; });
  }
  std::ranges::stable_sort(checked.findings, {},
                           [](const CardFinding& found) { return std::tuple(found.agent, !found.is_wrong); });
  return checked;
}

}  // namespace baton::app
