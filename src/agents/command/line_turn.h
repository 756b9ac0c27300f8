// LineTurn: a turn with a process of its own, which speaks the line protocol.
//
// Threads, ownership: as CommandTurn.
#pragma once

#include "agents/command/line_splitter.h"
#include "agents/command/process_turn.h"

namespace baton::agents {

class LineTurn final : public ProcessTurn {
 public:
  LineTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate);

  void cancel() override;
  void deliver(const DelegateResult& result) override;
  void abandon() override;

  void on_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const ProcessExit& exit) override;

 private:
  void on_launch() override { write(std::move(input_)); }
  bool take_line(std::string_view line);
  bool take(std::string_view text, base::Result<line::AgentLine> line);
  void write(std::string line);
  void after_output();
  void wind_up();
  void kill_after(std::chrono::milliseconds grace);

  const std::string id_;
  std::string input_;  // until it is written
  LineSplitter lines_;
  bool winding_up_ = false;
};

}  // namespace baton::agents
