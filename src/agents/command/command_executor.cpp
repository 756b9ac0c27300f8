#include "agents/command/command_executor.h"

#include "agents/command/line_turn.h"
#include "agents/command/text_turn.h"
#include "agents/command/worker_group.h"

namespace baton::agents {

CommandExecutor::CommandExecutor(ProcessHost& host, task::AgentName agent, AgentSettings settings,
                                 const std::filesystem::path& folder)
    : facts_(std::make_shared<LaunchFacts>(
          LaunchFacts{host, std::move(agent), settings, command_of(settings, folder)})),
      workers_(settings.mode == AgentSettings::Mode::worker ? std::make_shared<WorkerGroup>(facts_)
                                                            : nullptr) {}

CommandExecutor::~CommandExecutor() {
  if (workers_ != nullptr) facts_->host.post([workers = workers_] { workers->shut_down(); });
}

void CommandExecutor::scale(int workers, int concurrency) {
  if (workers_ == nullptr) return;
  facts_->host.post([group = workers_, workers, concurrency] { group->scale(workers, concurrency); });
}

void CommandExecutor::retire() {
  if (workers_ != nullptr) facts_->host.post([workers = workers_] { workers->end_when_idle(); });
}

std::unique_ptr<Execution> CommandExecutor::start(Turn turn, std::shared_ptr<TurnSink> sink) {
  if (workers_ != nullptr) {
    return run_turn(facts_->host, std::make_shared<WorkerTurn>(workers_, turn, std::move(sink)));
  }
  if (facts_->settings.io == AgentSettings::Io::text) {
    return run_turn(facts_->host, std::make_shared<TextTurn>(facts_, turn, std::move(sink)));
  }
  return run_turn(facts_->host, std::make_shared<LineTurn>(facts_, turn, std::move(sink)));
}

std::vector<std::string> CommandExecutor::error_lines() const {
  return facts_->command.errors->all();
}

std::vector<std::string> CommandExecutor::missing() const {
  return missing_files(facts_->command);
}

Catalogue::Make command_executors(ProcessHost& host) {
  return [&host](const Agent& agent) {
    return std::make_unique<CommandExecutor>(host, agent.name, agent.settings, agent.folder);
  };
}

}  // namespace baton::agents
