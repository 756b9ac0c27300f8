#include "agents/command/command_executor.h"

#include "agents/command/guess_turn.h"
#include "agents/command/worker_group.h"

namespace baton::agents {

CommandExecutor::CommandExecutor(ProcessHost& host, task::AgentName agent, AgentSettings settings,
                                 const std::filesystem::path& folder)
    : facts_(std::make_shared<LaunchFacts>(
          LaunchFacts{host, std::move(agent), settings, command_of(settings, folder)})),
      workers_(settings.mode == AgentSettings::Mode::worker ? std::make_shared<WorkerGroup>(facts_)
                                                            : nullptr),
      guess_(settings.io == AgentSettings::Io::guess ? std::make_shared<IoGuess>(settings.command, folder)
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
  auto gate = std::make_shared<SinkGate>(std::move(sink));
  if (workers_ != nullptr)
    return run_turn(facts_->host, std::make_shared<WorkerTurn>(workers_, turn, std::move(gate)));
  if (guess_ != nullptr && guess_->is_open()) {
    return run_turn(facts_->host,
                    std::make_shared<GuessTurn>(guess_, facts_, std::move(turn), std::move(gate)));
  }
  const AgentSettings::Io io = guess_ != nullptr ? guess_->io() : facts_->settings.io;
  return run_turn(facts_->host, turn_with_process(io, facts_, turn, std::move(gate)));
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
