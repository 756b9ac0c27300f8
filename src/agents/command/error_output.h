// ErrorOutput: a process's standard error. Logs its lines, with bounds on their length and rate, and keeps
// the end to explain why the process failed: its last line for callers, 64 KiB for operators.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/log.h"

namespace baton::agents {

// RecentLines: the last lines on standard error of all processes of one agent, for operators. Bounded in
// number and length. Threads: any.
class RecentLines {
 public:
  static constexpr std::size_t kLinesMax = 20;
  static constexpr std::size_t kLineMax = 200;  // bytes as shown

  void add(std::string_view line);
  std::vector<std::string> all() const;

 private:
  base::Guarded<std::deque<std::string>> lines_;
};

class ErrorOutput {
 public:
  // `members` are those of each line in the log: agent and worker, or agent, task and attempt. `recent`
  // gets the lines too; it may be null.
  explicit ErrorOutput(base::LogMembers members, std::shared_ptr<RecentLines> recent = nullptr)
      : members_(std::move(members)), line_members_(members_), recent_(std::move(recent)) {}

  // Sets the turn that further lines belong to: more members for the log; empty: unknown.
  void set_turn(const base::LogMembers& turn) {
    line_members_ = members_;
    line_members_.insert(line_members_.end(), turn.begin(), turn.end());
  }

  void feed(std::string_view bytes);
  // The stream has ended: logs an unfinished line.
  void finish();

  // The line that says why the program failed: the last one that is not blank, or the first one of an error's
  // text if more of that, or members of the error, follow. After an exception the place in the source
  // follows, as in "KeyError: 'city' (agent.py:14)".
  // Shortened and escaped for display; empty if there is none.
  std::string last_words() const;

  // The last kKeptMax bytes since `forget`, as UTF-8 text that begins with a whole line.
  std::string text() const;
  // Forgets what was written so far. `keeps`: whether `text` has what is written from now on.
  void forget(bool keeps) {
    kept_.clear();
    keeps_ = keeps;
  }
  static constexpr std::size_t kKeptMax = std::size_t{64} << 10;

 private:
  void keep(std::string_view bytes);
  void log_line();
  void log_left_out();
  bool may_log();

  const base::LogMembers members_;
  base::LogMembers line_members_;              // with the turn's
  const std::shared_ptr<RecentLines> recent_;  // shared with the agent's other processes
  std::string line_;                           // not ended yet
  bool cut_ = false;                           // line_ is only the beginning of a longer line
  std::string tail_;
  std::string kept_;  // up to twice kKeptMax bytes
  bool keeps_ = true;
  std::chrono::steady_clock::time_point window_{};  // the start of the second that logged_ counts
  int logged_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace baton::agents
