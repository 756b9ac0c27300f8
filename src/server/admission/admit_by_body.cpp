#include "server/admission/admit_by_body.h"

#include <algorithm>
#include <utility>

#include "server/admission/access.h"

namespace baton::server {
namespace {

constexpr std::size_t kIdMax = 1'000;  // bytes; as of other requests

bool has_task(const Admitted& by, const task::TaskId& id) {
  return by.services.engine.reader().head({by.caller, by.endpoint.agent->name, id}).has_value();
}

}  // namespace

std::optional<base::Error> refused_everywhere(const Services& services, const http::Request& request) {
  std::optional<base::Error> refused;
  for (const agents::Agent* agent : services.catalogue.all()) {
    const auto caller = authenticate(services.options, request, agent->name);
    if (caller) return std::nullopt;
    refused = caller.error();
    // A wrong token counts as one attempt, however many agents there are. Nor is one that cannot be checked
    // now checked for each of them.
    const auto code = refused->code;
    if (code == base::ErrorCode::unauthenticated || code == base::ErrorCode::unavailable) break;
  }
  return refused;
}

std::optional<Admitted> admitted_at(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent) {
  auto caller = identify(entry.services.options, head, agent.name);
  if (!caller) return std::nullopt;
  if (entry.note) entry.note->came_from(caller->caller);
  const bool is_default = &agent == entry.services.catalogue.default_agent();
  return Admitted{entry.services,
                  {&agent, false, entry.address, is_default},
                  std::move(caller->caller),
                  entry.note,
                  std::move(caller->child_agents),
                  caller->scopes,
                  std::move(caller->subject)};
}

bool may_be_id(const task::TaskId& id) {
  return !id.empty() && id.value.size() <= kIdMax;
}

std::optional<Admitted> admitted_for(const Entry& entry, const http::Request& head,
                                     std::span<const agents::Agent* const> agents, const task::TaskId& id) {
  return std::move(admitted_for(entry, head, agents, std::span(&id, 1)).front());
}

std::vector<std::optional<Admitted>> admitted_for(const Entry& entry, const http::Request& head,
                                                  std::span<const agents::Agent* const> agents,
                                                  std::span<const task::TaskId> ids) {
  std::vector<std::optional<Admitted>> found(ids.size()), at;
  auto left = std::ranges::count_if(ids, may_be_id);
  // Tasks in memory first: the others cost a read of the store for each agent.
  const engine::LiveTasks& live = entry.services.engine.live();
  for (const bool in_memory : {true, false}) {
    for (std::size_t agent = 0; agent < agents.size() && left > 0; ++agent) {
      if (agent == at.size()) at.push_back(admitted_at(entry, head, *agents[agent]));
      const std::optional<Admitted>& by = at[agent];
      for (std::size_t i = 0; by && i < ids.size(); ++i) {
        if (found[i] || !may_be_id(ids[i])) continue;
        const bool is_there = live.log({by->caller, agents[agent]->name, ids[i]}) != nullptr;
        if (is_there != in_memory || !has_task(*by, ids[i])) continue;
        found[i].emplace(*by);
        --left;
      }
    }
  }
  return found;
}

}  // namespace baton::server
