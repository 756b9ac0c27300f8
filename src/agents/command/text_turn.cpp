#include "agents/command/text_turn.h"

namespace baton::agents {

TextTurn::TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate)
    : ProcessTurn(std::move(facts), turn, std::move(gate)), input_(task::text_of(turn.message)) {
  if (!input_.empty() && input_.back() != '\n') input_ += '\n';
  const auto written = files_.write(turn.message);
  command_.words.insert(command_.words.end(), files_.paths().begin(), files_.paths().end());
  if (written) return;
  const base::Error& error = written.error();
  if (!error.for_log.empty()) base::log_error(log_members_, "{}", error.for_log);
  const bool refused = error.code == base::ErrorCode::invalid_argument;
  wrong_ = refused ? Outcome{Rejected{error.for_caller}} : Outcome{Failed{error.for_caller}};
}

void TextTurn::begin() {
  if (wrong_ && !abandoned_ && !output_.ended()) return output_.finish(std::move(*wrong_));
  ProcessTurn::begin();
}

void TextTurn::on_launch() {
  // This is the only write, so it cannot be refused.
  [[maybe_unused]] const bool queued = process_->write(std::move(input_));
  process_->close_input();
}

void TextTurn::on_adoption() {
  process_->close_input();
}

void TextTurn::cancel() {
  if (output_.ended()) return;
  if (process_ == nullptr) return output_.finish(Canceled{});  // not started yet
  canceling_ = true;
  process_->terminate();
}

void TextTurn::abandon() {
  abandoned_ = true;
  if (process_ != nullptr) process_->kill();
}

void TextTurn::on_output(std::string_view bytes) {
  if (!output_.count(bytes.size())) return process_->kill();
  if (std::string text = text_.take(bytes); !text.empty()) output_.take(line::Text{std::move(text)});
  pause_unless_ready(facts_->host, process_, gate());
}

void TextTurn::on_exit(const ProcessExit& exit) {
  process_ = nullptr;
  if (output_.ended()) return;
  if (std::string rest = text_.finish(); !rest.empty()) output_.take(line::Text{std::move(rest)});
  if (canceling_) return output_.finish(Canceled{});
  if (exit.signal == 0 && exit.code == 0) return output_.finish(Done{});
  output_.fail(failure(*facts_, "the agent failed", exit, task_));
}

}  // namespace baton::agents
