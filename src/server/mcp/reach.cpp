#include "server/mcp/reach.h"

#include <utility>

#include "server/admission/access.h"

namespace baton::server::mcp {
namespace {

constexpr std::size_t kIdMax = 1'000;  // bytes; as of other requests

// The request as one for this agent; nullopt if the caller may not use it.
std::optional<Admitted> admitted_at(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent) {
  if (entry.at) return entry.at;
  auto caller = identify(entry.services.options, head, agent.name);
  if (!caller) return std::nullopt;
  if (entry.note) entry.note->came_from(caller->caller);
  const bool is_default = &agent == entry.services.catalogue.default_agent();
  return Admitted{entry.services,
                  {&agent, false, entry.address, is_default},
                  std::move(caller->caller),
                  entry.note,
                  std::move(caller->child_agents)};
}

bool has_task(const Admitted& by, const task::TaskId& id) {
  return by.services.engine.reader().head({by.caller, by.endpoint.agent->name, id}).has_value();
}

}  // namespace

std::vector<const Tool*> tools_for(const Entry& entry, const http::Request& head) {
  std::vector<const Tool*> tools;
  const agents::Catalogue& catalogue = entry.services.catalogue;
  if (entry.at) {
    if (const Tool* tool = catalogue.tool_of(*entry.at->endpoint.agent)) tools.push_back(tool);
    return tools;
  }
  for (const Tool& tool : catalogue.tools()) {
    if (authenticate(entry.services.options, head, tool.agent->name)) tools.push_back(&tool);
  }
  return tools;
}

std::optional<Admitted> for_any(const Entry& entry, const http::Request& head) {
  if (entry.at) return entry.at;
  for (const Tool& tool : entry.services.catalogue.tools()) {
    if (auto by = admitted_at(entry, head, *tool.agent)) return by;
  }
  return std::nullopt;
}

std::optional<Admitted> for_tool(const Entry& entry, const http::Request& head, std::string_view name) {
  const Tool* tool = entry.services.catalogue.find_tool(name);
  if (tool == nullptr || (entry.at && entry.at->endpoint.agent != tool->agent)) return std::nullopt;
  return admitted_at(entry, head, *tool->agent);
}

std::optional<Admitted> for_task(const Entry& entry, const http::Request& head, const task::TaskId& id) {
  if (id.empty() || id.value.size() > kIdMax) return std::nullopt;
  if (entry.at) return entry.at->endpoint.agent->settings.tool.is_offered ? entry.at : std::nullopt;
  // Tasks in memory first: the others cost a read of the store for each agent.
  const engine::LiveTasks& live = entry.services.engine.live();
  for (const bool in_memory : {true, false}) {
    for (const Tool& tool : entry.services.catalogue.tools()) {
      auto by = admitted_at(entry, head, *tool.agent);
      if (!by || (live.log({by->caller, tool.agent->name, id}) != nullptr) != in_memory) continue;
      if (has_task(*by, id)) return by;
    }
  }
  return std::nullopt;
}

}  // namespace baton::server::mcp
