// CommandExecutor: agents that are programs. See agent-cards/LINE-PROTOCOL.md for their input and output.
//
// Threads: `start` from any. Turns run on the ProcessHost's thread; no thread blocks on a process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agents/cards/catalogue.h"
#include "agents/executor.h"
#include "agents/settings.h"

namespace baton::agents {

class IoGuess;
class ProcessHost;
class WorkerGroup;
struct LaunchFacts;

class CommandExecutor final : public Executor {
 public:
  // `folder` is where the program runs. The host must outlive this.
  CommandExecutor(ProcessHost& host, task::AgentName agent, AgentSettings settings,
                  const std::filesystem::path& folder);
  // Ends the agent's workers. All its Executions must be gone.
  ~CommandExecutor() override;

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override;
  void scale(int workers, int concurrency) override;
  void retire() override;

  std::vector<std::string> error_lines() const override;

  // See missing_files in spawn.h.
  std::vector<std::string> missing() const override;

 private:
  const std::shared_ptr<const LaunchFacts> facts_;  // shared with its turns
  const std::shared_ptr<WorkerGroup> workers_;      // shared with its turns and workers; null in turn mode
  const std::shared_ptr<IoGuess> guess_;            // shared with its turns; null: the card sets "io"
};

// Makes the command executors of a catalogue. The host must outlive it.
Catalogue::Make command_executors(ProcessHost& host);

}  // namespace baton::agents
