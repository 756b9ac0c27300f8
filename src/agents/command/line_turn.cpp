#include "agents/command/line_turn.h"

#include "agents/command/to_agent.h"

namespace baton::agents {

LineTurn::LineTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate)
    : ProcessTurn(std::move(facts), turn, std::move(gate)),
      id_(turn.id),
      input_(turn_lines(turn)),
      lines_(facts_->settings.line_max) {}

void LineTurn::write(std::string text) {
  if (process_ == nullptr || winding_up_ || process_->write(std::move(text))) return;
  output_.fail("the agent stopped reading its input");
  process_->kill();
}

void LineTurn::cancel() {
  if (output_.ended()) return;
  output_.canceling();
  if (process_ == nullptr) return output_.finish(Canceled{});  // not started yet
  write(line::encode_cancel(id_));
}

void LineTurn::deliver(const DelegateResult& result) {
  if (output_.ended()) return;
  write(line::encode_delegate_result(id_, result));
}

void LineTurn::abandon() {
  abandoned_ = true;
  // A turn that has ended is winding up: its process already has a short time to exit.
  if (process_ != nullptr && !winding_up_) process_->kill();
}

void LineTurn::on_output(std::string_view bytes) {
  gate().use([](TurnSink& sink) { sink.hold(); });
  if (!lines_.feed(bytes, [this](std::string_view one) { return take_line(one); })) {
    output_.fail(line_too_long(facts_->settings));
    process_->kill();
  } else if (!output_.ended() && !output_.count(bytes.size())) {
    process_->kill();
  }
  after_output();
}

// Returns whether to take the next line now.
bool LineTurn::take_line(std::string_view text) {
  if (output_.ended()) return false;
  if (text.size() <= kDecodedHere) return take(text, line::decode(text));
  decode_apart(facts_->host, process_, std::string(text),
               [weak = weak_from_this()](std::string_view long_one, line::Decoded decoded) {
                 const auto turn = std::static_pointer_cast<LineTurn>(weak.lock());
                 if (turn == nullptr) return;
                 turn->gate().use([](TurnSink& sink) { sink.hold(); });
                 const bool goes_on = turn->take(long_one, std::move(decoded.line));
                 turn->after_output();
                 if (goes_on) turn->on_output({});
               });
  return false;
}

// Returns whether to take the next line.
bool LineTurn::take(std::string_view text, base::Result<line::AgentLine> line) {
  if (output_.ended()) return false;
  if (line && !line->turn.empty() && line->turn != id_) {
    output_.fail("the agent named a turn that it was not given");
  } else if (line) {
    output_.forward(std::move(line->message));
  } else {
    output_.fail(refusal(facts_->settings, log_members_, line.error(), text));
  }
  return !output_.ended();
}

void LineTurn::after_output() {
  if (output_.ended()) return wind_up();
  pause_unless_ready(facts_->host, process_, gate());
}

// The turn has ended: gives its process a short time to exit.
void LineTurn::wind_up() {
  if (process_ == nullptr || std::exchange(winding_up_, true)) return;
  process_->ignore_output();
  process_->close_input();
  kill_after(facts_->settings.exit_grace);
}

void LineTurn::kill_after(std::chrono::milliseconds grace) {
  facts_->host.after(grace, [weak = weak_from_this()] {
    const auto turn = std::static_pointer_cast<LineTurn>(weak.lock());
    if (turn != nullptr && turn->process_ != nullptr) turn->process_->kill();
  });
}

void LineTurn::on_output_end() {
  if (!output_.ended()) lines_.finish([this](std::string_view one) { return take_line(one); });
  if (output_.ended()) return wind_up();
  // No more output can come. The process's exit will show why.
  process_->close_input();
  kill_after(facts_->settings.exit_grace);
}

void LineTurn::on_exit(const ProcessExit& exit) {
  ended(exit);
  const bool went_well = exit.signal == 0 && exit.code == 0;
  output_.fail(failure(
      *facts_,
      went_well ? "the agent exited without a line of type \"done\"" : "the agent exited without an answer",
      exit, task_));
}

}  // namespace baton::agents
