// GuessTurn: a turn of a program whose output format is not known yet. The process starts as a turn of the
// kind that its source suggests, and continues as a turn of the kind that its first line of output shows.
//
// Threads, ownership: as CommandTurn.
#pragma once

#include <optional>
#include <string>

#include "agents/command/io_guess.h"
#include "agents/command/process_turn.h"

namespace baton::agents {

// A turn of one kind.
std::shared_ptr<ProcessTurn> turn_with_process(AgentSettings::Io io, std::shared_ptr<const LaunchFacts> facts,
                                               const Turn& turn, std::shared_ptr<SinkGate> gate);

class GuessTurn final : public CommandTurn,
                        public ProcessHandler,
                        public std::enable_shared_from_this<GuessTurn> {
 public:
  // `guess`: shared with the executor and its other turns.
  GuessTurn(std::shared_ptr<IoGuess> guess, std::shared_ptr<const LaunchFacts> facts, Turn turn,
            std::shared_ptr<SinkGate> gate);

  void begin() override;
  void cancel() override;
  void deliver(const DelegateResult& result) override { current_->deliver(result); }
  void abandon() override { current_->abandon(); }

  void on_output(std::string_view bytes) override;
  void on_output_end() override;
  void on_exit(const ProcessExit& exit) override;

 private:
  void listen(bool is_all);
  void continue_as(AgentSettings::Io io);

  const std::shared_ptr<IoGuess> guess_;
  const std::shared_ptr<const LaunchFacts> facts_;
  const Turn turn_;
  const AgentSettings::Io looks_;
  const std::shared_ptr<ProcessTurn> begun_;  // kept with its files, which the program may read
  std::shared_ptr<ProcessTurn> current_;
  std::string heard_;  // the output, until it shows the format
  bool is_settled_ = false;
  bool is_canceled_ = false;
};

}  // namespace baton::agents
