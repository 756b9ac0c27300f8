#include "agents/command/guess_turn.h"

#include <utility>

#include "agents/command/line_turn.h"
#include "agents/command/text_turn.h"

namespace baton::agents {

std::shared_ptr<ProcessTurn> turn_with_process(AgentSettings::Io io, std::shared_ptr<const LaunchFacts> facts,
                                               const Turn& turn, std::shared_ptr<SinkGate> gate) {
  if (io == AgentSettings::Io::text)
    return std::make_shared<TextTurn>(std::move(facts), turn, std::move(gate));
  return std::make_shared<LineTurn>(std::move(facts), turn, std::move(gate));
}

GuessTurn::GuessTurn(std::shared_ptr<IoGuess> guess, std::shared_ptr<const LaunchFacts> facts, Turn turn,
                     std::shared_ptr<SinkGate> gate)
    : CommandTurn(std::move(gate)),
      guess_(std::move(guess)),
      facts_(std::move(facts)),
      turn_(std::move(turn)),
      looks_(guess_->io()),
      begun_(turn_with_process(looks_, facts_, turn_, shared_gate())),
      current_(begun_) {}

void GuessTurn::begin() {
  begun_->set_handler(weak_from_this());
  begun_->begin();
}

void GuessTurn::cancel() {
  is_canceled_ = true;
  current_->cancel();
}

void GuessTurn::on_output(std::string_view bytes) {
  if (is_settled_) return current_->on_output(bytes);
  heard_ += bytes;
  listen(heard_.size() > facts_->settings.line_max);
}

void GuessTurn::on_output_end() {
  if (!is_settled_) listen(true);
  current_->on_output_end();
}

void GuessTurn::on_exit(const ProcessExit& exit) {
  current_->on_exit(exit);
}

void GuessTurn::listen(bool is_all) {
  if (const auto io = spoken_in(heard_, is_all)) continue_as(*io);
}

void GuessTurn::continue_as(AgentSettings::Io io) {
  is_settled_ = true;
  if (io != looks_) {
    current_ = turn_with_process(io, facts_, turn_, shared_gate());
    current_->adopt(*begun_);
    if (is_canceled_) current_->cancel();
  }
  if (guess_->learn(io)) {
    gate().use([io](TurnSink& sink) {
      task::StatusChanged said;
      said.status.state = task::State::working;
      said.metadata.text = io == AgentSettings::Io::lines ? R"({"io":"lines"})" : R"({"io":"text"})";
      sink.emit(std::move(said));
    });
  }
  current_->on_output(std::exchange(heard_, {}));
}

}  // namespace baton::agents
