#include "agents/command/process_turn.h"

#include <utility>

namespace baton::agents {

ProcessTurn::ProcessTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn,
                         std::shared_ptr<SinkGate> gate)
    : CommandTurn(std::move(gate)),
      facts_(std::move(facts)),
      log_members_(log_members(facts_->agent, turn)),
      task_(turn.task),
      command_(command_for(*facts_, turn)),
      output_(turn, facts_->settings, this->gate()) {
  output_.set_errors(
      [this] { return masked_errors(facts_->settings, process_ ? process_->errors() : errors_); });
}

void ProcessTurn::ended(const ProcessExit& exit) {
  errors_ = exit.errors;
  process_ = nullptr;
}

void ProcessTurn::begin() {
  if (abandoned_ || output_.ended()) return;
  std::shared_ptr<ProcessHandler> handler = handler_.lock();
  if (handler == nullptr) handler = shared_from_this();
  auto launched = facts_->host.launch(command_, log_members_, std::move(handler));
  if (!launched && launched.error().code == base::ErrorCode::overloaded) {
    facts_->host.after(ProcessHost::kLaunchRetry, [self = shared_from_this()] { self->begin(); });
    return;
  }
  if (!launched) return output_.fail(std::move(launched.error().for_caller));
  process_ = std::move(*launched);
  on_launch();
  if (facts_->settings.first_output.count() > 0) expect_output();
}

void ProcessTurn::adopt(ProcessTurn& other) {
  process_ = std::exchange(other.process_, nullptr);
  if (process_ != nullptr) on_adoption();
}

// Fails the turn if the agent has sent no output within `first_output`.
void ProcessTurn::expect_output() {
  facts_->host.after(facts_->settings.first_output, [self = weak_from_this()] {
    const auto turn = self.lock();
    if (turn == nullptr || turn->process_ == nullptr || turn->output_.spoke()) return;
    turn->output_.fail(said_nothing(turn->facts_->settings));
    turn->process_->kill();
  });
}

}  // namespace baton::agents
