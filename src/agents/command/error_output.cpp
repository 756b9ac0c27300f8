#include "agents/command/error_output.h"

#include <algorithm>
#include <iterator>

#include "agents/text.h"

namespace baton::agents {
namespace {

constexpr std::size_t kLineMax = 2000;
constexpr std::size_t kTailMax = 4000;
constexpr std::size_t kShownMax = 300;
constexpr int kLinesPerSecond = 100;

// The lines that are not blank.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t last = text.substr(0, end).find_last_not_of(" \t\r");
    if (last != std::string_view::npos) lines.push_back(text.substr(0, last + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The place in a line of a traceback, as "agent.py:14"; empty if the line names none. In Python a line is
//   File "/agents/mine/agent.py", line 14, in answer
std::string python_place(std::string_view line) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ";
  const std::size_t number = line.find(kLine);
  if (!line.starts_with(kFile) || number == std::string_view::npos || line[kFile.size()] == '<') return {};
  const std::string_view rest = line.substr(number + kLine.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return std::string(line.substr(kFile.size(), number - kFile.size())) + ":" + std::string(digits);
}

// In Node, lines are "    at answer (/agents/mine/agent.js:14:9)" or without the name and parentheses. The
// last one ends with " {" if the error has members.
std::string node_place(std::string_view line) {
  if (line.ends_with(" {")) line.remove_suffix(2);
  const std::size_t begin = line.find_last_of("( ");
  std::string_view place = line.substr(begin + 1);
  if (place.ends_with(')')) place.remove_suffix(1);
  if (place.starts_with("file://")) place.remove_prefix(7);
  const std::size_t column = place.rfind(':');
  if (!place.starts_with('/') || column == std::string_view::npos) return {};
  return std::string(place.substr(0, column));
}

// An error's text and the place in the source where it happened; empty: not known.
struct Words {
  std::string_view text;
  std::string place;
};

// Node prints "FILE:LINE", the line of source and a caret, then the error's text, which may have several
// lines, its stack, and its other members, as in "{", "  code: 'MODULE_NOT_FOUND'", "}". Each part may be
// missing.
Words node_words(const std::vector<std::string_view>& lines) {
  // "    ... 4 lines matching cause stack trace ..." stands for frames, too.
  const auto is_frame = [](std::string_view line) {
    return line.starts_with("    at ") || line.starts_with("    ... ");
  };
  const auto is_caret = [](std::string_view line) { return line.find_first_not_of(" \t^") == line.npos; };
  const auto after_last = [&](auto is_it) {
    return std::find_if(lines.rbegin(), lines.rend(), is_it).base();
  };
  const auto end = after_last(is_frame), caret = after_last(is_caret);
  const auto stack = std::find_if_not(std::reverse_iterator(end), lines.rend(), is_frame).base();
  const bool has_source = caret - lines.begin() > 2 && caret != lines.end();
  // A caret that belongs to an earlier error has that error's stack behind it.
  const bool is_latest = caret >= end || (caret <= stack && std::none_of(caret, stack, is_frame));
  Words words{end == lines.begin() ? lines.back() : stack == lines.begin() ? *stack : *(stack - 1), {}};
  if (has_source && is_latest) words.text = *caret;
  if (!has_source || caret <= stack) {
    for (auto frame = stack; frame != end && words.place.empty(); ++frame) words.place = node_place(*frame);
  }
  if (words.place.empty() && has_source && is_latest) words.place = node_place(std::string(caret[-3]) + ":0");
  return words;
}

Words python_words(const std::vector<std::string_view>& lines) {
  Words words{lines.back(), {}};
  auto end = lines.begin();  // of the traceback
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    std::string found = python_place(*line);
    if (found.empty()) continue;
    end = line + 1;
    const bool is_own = !found.starts_with("/usr/");  // and not a library's of the system
    if (is_own || words.place.empty()) words.place = std::move(found);
  }
  // The error's text may have further, indented lines, as that of pydantic does.
  const auto head = std::find_if(end, lines.end(), [](std::string_view line) { return line.front() != ' '; });
  if (words.text.front() == ' ' && end != lines.begin() && head != lines.end()) words.text = *head;
  if (lines.size() == 1 || words.text.front() == ' ') words.place.clear();
  return words;
}

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

void ErrorOutput::feed(std::string_view bytes) {
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

std::string ErrorOutput::last_words() const {
  std::vector<std::string_view> lines = lines_of(tail_);
  const bool is_node = !lines.empty() && lines.back().starts_with("Node.js v");
  if (is_node) lines.pop_back();
  if (lines.empty()) return {};
  const Words words = is_node ? node_words(lines) : python_words(lines);
  return escaped(std::string(words.text) + (words.place.empty() ? "" : " (" + words.place + ")"), kShownMax);
}

void ErrorOutput::keep(std::string_view bytes) {
  // With one byte more than `text` returns, it knows that something was cut off.
  kept_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKeptMax + 1));
  if (kept_.size() > 2 * kKeptMax) kept_.erase(0, kept_.size() - kKeptMax - 1);
}

std::string ErrorOutput::text() const {
  std::string_view kept = kept_;
  if (kept.size() > kKeptMax) {
    kept.remove_prefix(kept.size() - kKeptMax);
    const std::size_t line = kept.find('\n');
    if (line != std::string_view::npos) kept.remove_prefix(line + 1);
  }
  Utf8Stream utf8;
  std::string text = utf8.feed(kept);
  text += utf8.finish();
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace baton::agents
