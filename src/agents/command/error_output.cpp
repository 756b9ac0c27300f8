#include "agents/command/error_output.h"

#include "agents/text.h"

namespace baton::agents {
namespace {

constexpr std::size_t kLineMax = 2000;
constexpr std::size_t kTailMax = 4000;
constexpr std::size_t kShownMax = 300;
constexpr int kLinesPerSecond = 100;

}  // namespace

void RecentLines::add(std::string_view line) {
  std::string shown = escaped(line, kLineMax);
  lines_.with([&](std::deque<std::string>& lines) {
    if (lines.size() == kLinesMax) lines.pop_front();
    lines.push_back(std::move(shown));
  });
}

std::vector<std::string> RecentLines::all() const {
  return lines_.with([](const std::deque<std::string>& lines) {
    return std::vector<std::string>(lines.begin(), lines.end());
  });
}

void ErrorOutput::take(std::string_view bytes) {
  tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), kTailMax));
  if (tail_.size() > kTailMax) tail_.erase(0, tail_.size() - kTailMax);
  if (keeps_) keep(bytes);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    const std::size_t room = kLineMax - line_.size();
    line_ += piece.substr(0, room);
    cut_ = cut_ || piece.size() > room;
    if (end == std::string_view::npos) return;
    log_line();
    bytes.remove_prefix(end + 1);
  }
}

void ErrorOutput::finish() {
  if (!line_.empty()) log_line();
  log_left_out();
}

void ErrorOutput::log_left_out() {
  if (left_out_ > 0) base::log_warn(members_, "agent-stderr left_out_lines={}", left_out_);
  left_out_ = 0;
}

void ErrorOutput::log_line() {
  if (!line_.empty() && may_log()) {
    base::log_agent(line_members_, escaped(line_, kLineMax) + (cut_ ? " ..." : ""));
    if (recent_) recent_->add(line_);
  }
  line_.clear();
  cut_ = false;
}

bool ErrorOutput::may_log() {
  const auto now = std::chrono::steady_clock::now();
  if (now - window_ >= std::chrono::seconds(1)) {
    window_ = now;
    logged_ = 0;
    log_left_out();
  }
  if (++logged_ <= kLinesPerSecond) return true;
  ++left_out_;
  return false;
}

std::string ErrorOutput::last_line() const {
  const std::size_t last = tail_.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return {};
  const std::size_t begin = tail_.rfind('\n', last);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  return escaped(std::string_view(tail_).substr(first, last + 1 - first), kShownMax);
}

void ErrorOutput::keep(std::string_view bytes) {
  kept_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKeptMax));
  if (kept_.size() > 2 * kKeptMax) kept_.erase(0, kept_.size() - kKeptMax);
}

std::string ErrorOutput::text() const {
  std::string_view kept = kept_;
  if (kept.size() > kKeptMax) {
    kept.remove_prefix(kept.size() - kKeptMax);
    const std::size_t line = kept.find('\n');
    if (line != std::string_view::npos) kept.remove_prefix(line + 1);
  }
  Utf8Stream utf8;
  std::string text = utf8.take(kept);
  text += utf8.finish();
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace baton::agents
