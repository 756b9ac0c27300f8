#include "agents/command/text_turn.h"

namespace baton::agents {

TextTurn::TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<TurnSink> sink)
    : CommandTurn(std::move(sink)),
      facts_(std::move(facts)),
      log_members_(log_members(facts_->agent, turn)),
      task_(turn.task),
      command_(command_for(*facts_, turn)),
      input_(task::text_of(turn.message)),
      output_(turn, facts_->settings, gate()) {
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
  if (abandoned_ || output_.ended()) return;
  if (wrong_) return output_.finish(std::move(*wrong_));
  auto launched = facts_->host.launch(command_, log_members_, shared_from_this());
  if (!launched && launched.error().code == base::ErrorCode::overloaded) {
    facts_->host.after(ProcessHost::kLaunchRetry, [self = shared_from_this()] { self->begin(); });
    return;
  }
  if (!launched) return output_.fail(std::move(launched.error().for_caller));
  process_ = std::move(*launched);
  // This is the only write, so it cannot be refused.
  [[maybe_unused]] const bool queued = process_->write(std::move(input_));
  process_->close_input();
  if (facts_->settings.first_output.count() > 0) expect_output();
}

// The turn fails if the agent has not said anything within `first_output`.
void TextTurn::expect_output() {
  facts_->host.after(facts_->settings.first_output, [self = weak_from_this()] {
    const auto turn = self.lock();
    if (turn == nullptr || turn->process_ == nullptr || turn->output_.spoke()) return;
    turn->output_.fail(said_nothing(turn->facts_->settings));
    turn->process_->kill();
  });
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
