#include "agents/command/text_turn.h"

namespace baton::agents {

TextTurn::TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<TurnSink> sink)
    : TurnSession(std::move(sink)),
      facts_(std::move(facts)),
      label_("agent=" + facts_->agent.value + " task=" + turn.task.value),
      input_(task::text_of(turn.message)),
      output_(turn, facts_->settings, gate()) {}

void TextTurn::begin() {
  if (abandoned_ || output_.ended()) return;
  auto launched = facts_->host.launch(facts_->command, label_, shared_from_this());
  if (!launched) return output_.fail(std::move(launched.error().for_caller));
  process_ = std::move(*launched);
  // The only write: it cannot be refused.
  [[maybe_unused]] const bool queued = process_->write(std::move(input_));
  process_->close_input();
}

void TextTurn::cancel() {
  if (output_.ended()) return;
  canceling_ = true;
  if (process_ != nullptr) process_->terminate();
}

void TextTurn::abandon() {
  abandoned_ = true;
  if (process_ != nullptr) process_->kill();
}

void TextTurn::on_output(std::string_view bytes) {
  if (!output_.count(bytes.size())) return process_->kill();
  if (std::string text = text_.take(bytes); !text.empty()) output_.take(wire::line::Text{std::move(text)});
  pause_unless_ready(facts_->host, process_, gate());
}

void TextTurn::on_exit(const ProcessExit& exit) {
  process_ = nullptr;
  if (output_.ended()) return;
  if (std::string rest = text_.finish(); !rest.empty()) output_.take(wire::line::Text{std::move(rest)});
  if (canceling_) return output_.finish(Canceled{});
  if (exit.signal == 0 && exit.code == 0) return output_.finish(Done{});
  output_.fail("the agent failed (" + shown(*facts_, exit) + ")");
}

}  // namespace baton::agents
