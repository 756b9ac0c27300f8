// ProcessTurn: a turn with a process of its own. Launches it and waits for its first output.
//
// Threads, ownership: as CommandTurn. The process calls the handler on the host's thread.
#pragma once

#include <memory>
#include <string>

#include "agents/command/agent_output.h"
#include "agents/command/command_turn.h"
#include "agents/command/launch_facts.h"
#include "base/log.h"

namespace baton::agents {

class ProcessTurn : public CommandTurn,
                    public ProcessHandler,
                    public std::enable_shared_from_this<ProcessTurn> {
 public:
  void begin() override;
  // Takes over the process of `other`, a turn of another kind, which then has none.
  void adopt(ProcessTurn& other);
  // Lets `handler` receive the process's events in place of this turn; `handler` passes on those that are for
  // this turn. Call before `begin`.
  void set_handler(std::weak_ptr<ProcessHandler> handler) { handler_ = std::move(handler); }

 protected:
  ProcessTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate);

  // Called when the process has started. The process has had no input yet.
  virtual void on_launch() = 0;
  // Called by `adopt`. The process has already had its input, from a turn of another kind.
  virtual void on_adoption() {}
  // Call first in `on_exit`.
  void ended(const ProcessExit& exit);

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor and its other turns
  const base::LogMembers log_members_;
  const task::TaskId task_;
  Command command_;
  AgentOutput output_;
  std::shared_ptr<Process> process_;  // shared with the host; null before the launch and after the exit
  bool abandoned_ = false;

 private:
  void expect_output();

  std::weak_ptr<ProcessHandler> handler_;  // empty: this turn
  std::string errors_;                     // of the process that has ended
};

}  // namespace baton::agents
