#include "server/mcp/reach.h"

#include <utility>

#include "server/admission/access.h"
#include "server/admission/reach.h"

namespace baton::server::mcp {
namespace {

std::optional<Admitted> admitted_to(const Entry& entry, const http::Request& head,
                                    const agents::Agent& agent) {
  if (entry.at) return entry.at;
  return admitted_at({entry.services, entry.address, entry.note}, head, agent);
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
    if (auto by = admitted_to(entry, head, *tool.agent)) return by;
  }
  return std::nullopt;
}

std::optional<Admitted> for_tool(const Entry& entry, const http::Request& head, std::string_view name) {
  const Tool* tool = entry.services.catalogue.find_tool(name);
  if (tool == nullptr || (entry.at && entry.at->endpoint.agent != tool->agent)) return std::nullopt;
  return admitted_to(entry, head, *tool->agent);
}

std::optional<Admitted> for_task(const Entry& entry, const http::Request& head, const task::TaskId& id) {
  if (entry.at) {
    const bool is_offered = entry.at->endpoint.agent->settings.tool.is_offered;
    return is_offered && may_be_id(id) ? entry.at : std::nullopt;
  }
  std::vector<const agents::Agent*> agents;
  for (const Tool& tool : entry.services.catalogue.tools()) agents.push_back(tool.agent);
  return admitted_for({entry.services, entry.address, entry.note}, head, agents, id);
}

}  // namespace baton::server::mcp
