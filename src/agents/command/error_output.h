// ErrorOutput: a process's standard error. Logs its lines, with bounds on their length and rate, and keeps
// the end to tell why the process failed.
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

  // Sets the turn that further lines belong to, as facts for the log; empty: unknown.
  void set_turn(const std::string& facts) { turn_ = facts.empty() ? "" : " " + facts; }

  void take(std::string_view bytes);
  // The stream has ended: logs an unfinished line.
  void finish();

  // The last line that is not blank, shortened and escaped for display; empty if there is none.
  std::string last_line() const;

 private:
  void log_line();
  void log_left_out();
  bool may_log();

  const std::string label_;
  std::string turn_;  // with a space before it
  std::string line_;  // not ended yet
  bool cut_ = false;  // line_ is only the beginning of a longer line
  std::string tail_;
  std::chrono::steady_clock::time_point window_{};  // the start of the second that logged_ counts
  int logged_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace baton::agents
