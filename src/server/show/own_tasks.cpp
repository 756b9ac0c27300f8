#include "server/show/own_tasks.h"

#include <algorithm>

#include "task/short_id.h"

namespace baton::server {
namespace {

constexpr std::size_t kNameMax = 1'000;  // bytes

}  // namespace

base::Result<std::vector<OwnTask>> own_tasks(engine::Engine& engine, const task::Caller& caller,
                                             const std::vector<task::AgentName>& agents,
                                             const std::string& named) {
  std::vector<OwnTask> found;
  if (named.empty() || named.size() > kNameMax || caller.empty()) return found;
  for (const task::AgentName& agent : agents) {
    const auto head = engine.reader().head({caller, agent, {named}});
    if (head) found.push_back({agent, head->id});
    if (!head && head.error().code != base::ErrorCode::task_not_found) return base::fail(head.error());
  }
  if (!found.empty() || named.size() < task::kIdPartMin) return found;
  const auto end = base::SteadyTime::now() + kOwnTasksTime;
  store::TaskQuery query;
  query.filter.caller = caller;
  query.filter.id = named;
  do {
    query.time_max = std::chrono::duration_cast<std::chrono::milliseconds>(end - base::SteadyTime::now());
    query.found_time_max = query.time_max;
    if (query.time_max <= std::chrono::milliseconds(0)) break;
    const auto page = engine.operator_store().page(query);
    if (!page) return base::fail(page.error());
    for (const store::TaskLine& line : page->lines) {
      // The filter also selects tasks of the caller's tenants, which are visible only to those tenants.
      const bool is_own = line.head.caller == caller && !line.head.hidden &&
                          std::ranges::find(agents, line.head.agent) != agents.end();
      if (is_own && found.size() < kOwnTasksMax) found.push_back({line.head.agent, line.head.id});
    }
    query.after = page->next;
  } while (query.after && found.size() < kOwnTasksMax);
  engine.settle_reads();
  return found;
}

}  // namespace baton::server
