#include "agents/command/text_turn.h"

namespace baton::agents {

TextTurn::TextTurn(std::shared_ptr<const LaunchFacts> facts, const Turn& turn, std::shared_ptr<SinkGate> gate)
    : ProcessTurn(std::move(facts), turn, std::move(gate)), input_(task::text_of(turn.message)) {
  if (!input_.empty() && input_.back() != '\n') input_ += '\n';
  if (PartFiles::are_in(turn.message))
    files_ = std::make_shared<PartFiles>(turn.message, facts_->settings.part_files);
}

TextTurn::~TextTurn() {
  if (files_ == nullptr) return;
  files_->stop();
  // Whether the pool runs this or refuses it, as it does at the host's end, the files are removed.
  [[maybe_unused]] const bool queued = facts_->host.slow_work().try_submit([files = std::move(files_)] {});
}

void TextTurn::begin() {
  if (abandoned_ || output_.ended()) return;
  if (files_ != nullptr && !has_files_) return write_files();
  ProcessTurn::begin();
}

// The function does not keep the turn or its files: if those are dropped first, nothing is written.
void TextTurn::write_files() {
  const std::weak_ptr<TextTurn> turn = std::static_pointer_cast<TextTurn>(shared_from_this());
  const auto write = [&host = facts_->host, turn, weak = std::weak_ptr(files_)] {
    const auto files = weak.lock();
    if (files == nullptr) return;
    host.post([turn, written = files->write()] {
      if (const auto self = turn.lock()) self->on_files(written);
    });
  };
  if (facts_->host.slow_work().try_submit(write)) return;
  facts_->host.after(ProcessHost::kLaunchRetry, [turn] {
    if (const auto self = turn.lock()) self->begin();
  });
}

void TextTurn::on_files(const base::Result<void>& written) {
  if (abandoned_ || output_.ended()) return;
  if (written) {
    has_files_ = true;
    command_.words.insert(command_.words.end(), files_->paths().begin(), files_->paths().end());
    return ProcessTurn::begin();
  }
  const base::Error& error = written.error();
  if (!error.for_log.empty()) base::log_error(log_members_, "{}", error.for_log);
  const bool refused = error.code == base::ErrorCode::invalid_argument;
  output_.finish(refused ? Outcome{Rejected{error.for_caller}} : Outcome{Failed{error.for_caller}});
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
  if (process_ == nullptr) {  // not started yet
    if (files_ != nullptr) files_->stop();
    return output_.finish(Canceled{});
  }
  canceling_ = true;
  process_->terminate();
}

void TextTurn::abandon() {
  abandoned_ = true;
  if (files_ != nullptr && process_ == nullptr) files_->stop();
  if (process_ != nullptr) process_->kill();
}

void TextTurn::on_output(std::string_view bytes) {
  if (!output_.count(bytes.size())) return process_->kill();
  if (std::string text = text_.feed(bytes); !text.empty()) output_.forward(line::Text{std::move(text)});
  pause_unless_ready(facts_->host, process_, gate());
}

void TextTurn::on_exit(const ProcessExit& exit) {
  ended(exit);
  if (output_.ended()) return;
  if (std::string rest = text_.finish(); !rest.empty()) output_.forward(line::Text{std::move(rest)});
  if (canceling_) return output_.finish(Canceled{});
  if (exit.signal == 0 && exit.code == 0) return output_.finish(Done{});
  output_.fail(failure(*facts_, "the agent failed", exit, task_));
}

}  // namespace baton::agents
