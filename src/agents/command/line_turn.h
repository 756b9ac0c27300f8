// LineTurn: a turn with a process of its own, which speaks the line protocol.
#pragma once

#include "agents/command/agent_output.h"
#include "agents/command/command_turn.h"
#include "agents/command/launch_facts.h"
#include "agents/command/line_splitter.h"
#include "base/log.h"

namespace baton::agents {

class LineTurn final : public CommandTurn,
                       public ProcessHandler,
                       public std::enable_shared_from_this<LineTurn> {
 public:
  LineTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<TurnSink> sink);

  void begin() override;
  void cancel() override;
  void deliver(const DelegateResult& result) override;
  void abandon() override;

  void on_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const ProcessExit& exit) override;

 private:
  bool take_line(std::string_view line);
  void write(std::string line);
  void expect_output();
  void after_output();
  void wind_up();
  void kill_after(std::chrono::milliseconds grace);

  const std::shared_ptr<const LaunchFacts> facts_;  // shared with the executor and its other turns
  const base::LogMembers log_members_;
  const task::TaskId task_;
  const std::string id_;
  const Command command_;
  std::string input_;  // until it is written
  AgentOutput output_;
  LineSplitter lines_;
  std::shared_ptr<Process> process_;  // shared with the host; null before the launch and after the exit
  bool abandoned_ = false;
  bool winding_up_ = false;
};

}  // namespace baton::agents
