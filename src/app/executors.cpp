#include "app/executors.h"

#include <limits>
#include <memory>
#include <utility>

#include "agents/agui/agui_turn.h"
#include "agents/command/command_executor.h"
#include "agents/delegate_urls.h"
#include "agents/mcp/mcp_turn.h"
#include "agents/model/model_turn.h"
#include "agents/remote/remote_executor.h"

namespace baton::app {

agents::Catalogue::Make executors(const ExecutorServices& services) {
  auto memories = std::make_shared<agents::PlanMemories>(services.plans.kept_max);
  return [services,
          memories = std::move(memories)](const agents::Agent& agent) -> std::unique_ptr<agents::Executor> {
    if (agent.settings.executor == agents::AgentSettings::Kind::a2a) {
      return agents::remote_executor({services.turns, services.callers}, agent.card, agent.settings,
                                     services.outbound);
    }
    if (agent.settings.executor == agents::AgentSettings::Kind::openai) {
      auto tools = services.tools->set(agent.name.value, agent.settings, services.outbound, services.turns);
      return agents::model_executor(services.turns, agent.settings, services.outbound, std::move(tools));
    }
    if (agent.settings.executor == agents::AgentSettings::Kind::workflow) {
      return agents::workflow_executor(agent.settings, services.clock, services.choose, services.plans,
                                       memories);
    }
    if (agent.settings.executor == agents::AgentSettings::Kind::ag_ui) {
      return agents::agui_executor(services.turns, agent.settings, services.outbound);
    }
    return std::make_unique<agents::CommandExecutor>(services.processes, agent.name, agent.settings,
                                                     agent.folder);
  };
}

void add_hidden_agents(agents::Catalogue& catalogue, const ExecutorServices& services,
                       const std::vector<std::string>& delegate_urls) {
  for (const char* name : {agents::kAskAgent, agents::kAskAuthAgent}) {
    agents::Agent agent;
    agent.name.value = name;
    agent.card.name = "A question of a plan";
    agent.card.version = "1";
    agent.settings.concurrency = std::numeric_limits<int>::max();
    agent.executor = agents::ask_executor(name == agents::kAskAuthAgent);
    catalogue.add_hidden(std::move(agent));
  }
  agents::Agent tool;
  tool.name.value = agents::kToolAgent;
  tool.card.name = "A call of a tool";
  tool.card.version = "1";
  tool.settings.concurrency = 256;
  tool.settings.turn_timeout = std::chrono::days(7);  // the calling agent's own time counts
  tool.settings.answers_need_data = true;
  tool.settings.ends_work_elsewhere = true;
  tool.executor = agents::tool_executor(services.tools, services.turns.loop, services.clock);
  catalogue.add_hidden(std::move(tool));
  agents::Agent elsewhere;
  elsewhere.name.value = agents::kElsewhereAgent;
  elsewhere.card.name = "A remote agent";
  elsewhere.card.version = "1";
  elsewhere.settings.executor = agents::AgentSettings::Kind::a2a;
  elsewhere.settings.concurrency = 64;  // for all URLs together
  elsewhere.executor =
      agents::url_executor({services.turns, services.callers}, elsewhere.settings, services.outbound);
  catalogue.add_elsewhere(std::move(elsewhere), [delegate_urls](std::string_view url) {
    return agents::is_delegate_url(delegate_urls, url);
  });
}

}  // namespace baton::app
