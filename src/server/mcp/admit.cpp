#include "server/mcp/admit.h"

#include <utility>

#include "server/admission/access.h"
#include "server/admission/admit_by_body.h"

namespace baton::server::mcp {
namespace {

std::optional<Admitted> admitted_to(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent) {
  if (entry.at) return entry.at;
  return admitted_at(entry, head, agent);
}

}  // namespace

std::vector<const Tool*> tools_for(const Entry& entry, const http::Request& head) {
  std::vector<const Tool*> tools;
  const agents::Catalogue& catalogue = entry.services.catalogue;
  if (entry.at) {
    // A reload may have replaced the agent.
    const agents::Agent* const agent = catalogue.find(entry.at->endpoint.agent->name);
    if (agent == nullptr) return tools;
    for (const Tool& tool : catalogue.tools_of(*agent)) tools.push_back(&tool);
    return tools;
  }
  for (const Tool& tool : catalogue.tools()) {
    if (authenticate(entry.services.options, head, tool.agent->name)) tools.push_back(&tool);
  }
  return tools;
}

std::optional<Admitted> admitted_for_any(const Entry& entry, const http::Request& head) {
  if (entry.at) return entry.at;
  for (const Tool& tool : entry.services.catalogue.tools()) {
    if (auto by = admitted_to(entry, head, *tool.agent)) return by;
  }
  return std::nullopt;
}

std::optional<ToolRequest> admitted_for_tool(const Entry& entry, const http::Request& head,
                                             std::string_view name) {
  const agents::Catalogue& catalogue = entry.services.catalogue;
  const Tool* const tool =
      entry.at ? catalogue.find_tool_of(*entry.at->endpoint.agent, name) : catalogue.find_tool(name);
  if (tool == nullptr) return std::nullopt;
  auto by = admitted_to(entry, head, *tool->agent);
  if (!by) return std::nullopt;
  return ToolRequest{tool, std::move(*by)};
}

std::optional<Admitted> admitted_for_task(const Entry& entry, const http::Request& head,
                                          const task::TaskId& id) {
  return std::move(admitted_for_tasks(entry, head, std::span(&id, 1)).front());
}

std::vector<std::optional<Admitted>> admitted_for_tasks(const Entry& entry, const http::Request& head,
                                                        std::span<const task::TaskId> ids) {
  std::vector<std::optional<Admitted>> found;
  if (entry.at) {
    const bool is_offered = entry.at->endpoint.agent->settings.tool.is_offered;
    for (const task::TaskId& id : ids) found.push_back(is_offered && may_be_id(id) ? entry.at : std::nullopt);
    return found;
  }
  std::vector<const agents::Agent*> agents;
  for (const Tool& tool : entry.services.catalogue.tools()) agents.push_back(tool.agent);
  return admitted_for(entry, head, agents, ids);
}

}  // namespace baton::server::mcp
