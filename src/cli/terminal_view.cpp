#include "cli/terminal_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/answer_form.h"
#include "cli/printable.h"
#include "json/document.h"
#include "json/pretty_json.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::string_view kReset = "\x1b[0m", kDim = "\x1b[2m", kWipe = "\r\x1b[K";

std::optional<double> progress_in(const task::Json& metadata) {
  if (metadata.empty()) return std::nullopt;
  const auto progress = json::Document::view_of(metadata.text).root()["progress"].real();
  if (!progress || !std::isfinite(*progress)) return std::nullopt;
  return std::clamp(*progress, 0.0, 1.0);
}

// Returns the decoded size of base64, with or without padding.
std::size_t decoded_size(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return text.size() * 3 / 4;
}

std::string file_line(const task::Part& part) {
  std::string text = "[file";
  if (!part.filename.empty()) text += " " + printable_line(part.filename);
  if (!part.media_type.empty()) text += ", " + printable_line(part.media_type);
  if (part.kind == task::Part::Kind::url) return text + ", at " + printable_line(part.content) + "]";
  return text + ", " + std::to_string(decoded_size(part.content)) + " bytes]";
}

std::string data_text(const std::string& json) {
  const auto document = json::Document::parse_view(json);
  return printable(document ? pretty_json(document->root()) : json);
}

}  // namespace

std::string_view style_of(task::State state) {
  switch (state) {
    case task::State::completed:
      return "\x1b[32m";
    case task::State::failed:
    case task::State::rejected:
      return "\x1b[31m";
    case task::State::canceled:
    case task::State::input_required:
    case task::State::auth_required:
      return "\x1b[33m";
    case task::State::submitted:
    case task::State::working:
      break;
  }
  return kDim;
}

std::string TerminalView::show(const protocol::a2a::Update& update) {
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) show_status(*status);
  if (const auto* artifact = std::get_if<protocol::a2a::ArtifactUpdate>(&update)) show_artifact(*artifact);
  if (const auto* task = std::get_if<task::Task>(&update)) show_task(*task);
  if (const auto* reply = std::get_if<protocol::a2a::MessageReply>(&update)) show_reply(reply->message);
  return std::exchange(out_, {});
}

std::string TerminalView::note_line(std::string_view text) {
  line(text);
  return std::exchange(out_, {});
}

std::string TerminalView::end() {
  fresh_line();
  return std::exchange(out_, {});
}

void TerminalView::show_status(const protocol::a2a::StatusUpdate& update) {
  const task::State state = update.status.state;
  const std::string said = update.status.message ? task::text_of(*update.status.message) : std::string();
  const bool changed = state_ != state;
  state_ = state;
  const auto progress = progress_in(update.metadata);
  if (progress && state == task::State::working) return this->progress(*progress, printable_line(said));
  if (!changed && said == last_said_) return;
  last_said_ = said;
  line(task::name_of(state), style_of(state));
  if (!update.status.message) return;
  const std::string asker = protocol::asking_agent(update.status.message->metadata);
  if (!asker.empty()) line(printable_line(asker) + " asks:", kDim);
  show_message(*update.status.message);
}

void TerminalView::show_artifact(const protocol::a2a::ArtifactUpdate& update) {
  const task::Artifact& artifact = update.artifact;
  const int number = numbers_.of(artifact);
  const bool known = artifacts_.contains(number);
  if (!update.append || !known) {
    if (known && artifacts_[number]) line("(starts again)", kDim);
    artifacts_[number] = false;
    if (!artifact.name.empty()) line("[" + printable_line(artifact.name) + "]", kDim);
  } else if (streaming_ && streaming_ != number) {
    fresh_line();
  }
  streaming_ = number;
  for (const task::Part& part : artifact.parts) {
    show_part(part);
    artifacts_[number] = true;
  }
  if (update.last_chunk) fresh_line();
}

void TerminalView::show_task(const task::Task& task) {
  line("task " + printable_line(task.id.value), kDim);
  for (const task::Message& message : task.history) {
    line(message.role == task::Role::user ? "user" : "agent", kDim);
    show_message(message);
  }
  for (const task::Artifact& artifact : task.artifacts)
    show_artifact({task.id, task.context, artifact, false, true});
  show_status({task.id, task.context, task.status, false, {}});
}

void TerminalView::show_message(const task::Message& message) {
  const auto form = AnswerForm::of(message);
  for (const task::Part& part : message.parts) {
    if (form && &part == &message.parts.back()) continue;
    show_part(part);
    fresh_line();
  }
  if (!form) return;
  for (const AnswerForm::Field& field : form->fields()) line("  " + AnswerForm::summary(field), kDim);
}

// Some servers send each piece of an answer as a message, mostly with one id.
void TerminalView::show_reply(const task::Message& message) {
  if (reply_ != message.id.value) fresh_line();
  reply_ = message.id.value;
  if (AnswerForm::of(message)) return show_message(message);
  for (const task::Part& part : message.parts) {
    if (&part != &message.parts.front()) fresh_line();
    show_part(part);
  }
}

void TerminalView::show_part(const task::Part& part) {
  if (part.kind == task::Part::Kind::text) return text(printable(part.content));
  if (part.kind == task::Part::Kind::data) return line(data_text(part.content));
  line(file_line(part));
}

void TerminalView::progress(double share, const std::string& text) {
  const std::string percent = std::to_string(std::lround(share * 100)) + "%";
  if (!rewrites_) return line(text.empty() ? percent : percent + " " + text);
  if (!bar_shown_) fresh_line();
  const int full = static_cast<int>(std::lround(share * kBarWidth));
  out_ += kWipe;
  std::string line = "[" + std::string(static_cast<std::size_t>(full), '#') +
                     std::string(static_cast<std::size_t>(kBarWidth - full), '-') + "] " + percent;
  // A bar that is longer than the line, or fills its last column, would wrap and could not be erased.
  if (!text.empty()) line += " " + shortened(text, columns_ - std::min(columns_, line.size() + 2));
  out_ += line;
  bar_shown_ = true;
}

void TerminalView::line(std::string_view text, std::string_view style) {
  fresh_line();
  if (colour_ && !style.empty()) {
    out_.append(style).append(text).append(kReset);
  } else {
    out_ += text;
  }
  out_ += '\n';
}

void TerminalView::text(const std::string& text) {
  if (text.empty()) return;
  if (bar_shown_) fresh_line();
  out_ += text;
  mid_line_ = text.back() != '\n';
}

void TerminalView::fresh_line() {
  if (std::exchange(bar_shown_, false)) out_ += kWipe;
  if (std::exchange(mid_line_, false)) out_ += '\n';
}

}  // namespace baton::cli
