// ErrorOutput: what a process writes to standard error. Lines go to the log, within bounds; the end is kept
// to tell why the process failed.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace baton::agents {

class ErrorOutput {
 public:
  // `label` begins each line in the log: "agent=echo worker=0".
  explicit ErrorOutput(std::string label) : label_(std::move(label)) {}

  // The turn that lines from here on belong to, as facts of the log; empty: it is not known.
  void set_turn(const std::string& facts) { turn_ = facts.empty() ? "" : " " + facts; }

  void take(std::string_view bytes);
  // There will be no more: logs an unfinished line.
  void finish();

  // The last line with text in it, shortened and fit to be shown; empty if there is none.
  std::string last_line() const;

 private:
  void log_line();
  void log_left_out();
  bool may_log();

  const std::string label_;
  std::string turn_;  // with a space before it
  std::string line_;  // begun, not ended
  bool cut_ = false;  // the begun line is longer than is kept
  std::string tail_;
  std::chrono::steady_clock::time_point window_{};  // one second in which only so many lines are logged
  int logged_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace baton::agents
