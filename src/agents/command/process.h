// Process: a running child process on the event loop: its input queue, its output, its exit.
//
// Threads: the loop's only. Ownership: the ProcessHost holds each Process until it is reaped; the Process
// holds its handler until on_exit has returned.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "agents/command/error_output.h"
#include "agents/command/spawn.h"
#include "base/event_loop.h"
#include "base/log.h"

namespace baton::agents {

class ProcessHost;

struct ProcessExit {
  int code = 0;
  int signal = 0;          // not 0: it died of this signal
  std::string last_words;  // ErrorOutput::last_words
  std::string errors;      // ErrorOutput::text

  // "exit code 3", "signal SEGV".
  std::string text() const;
};

// Receives a process's output. Gets exactly one on_exit, unless the host is destroyed first.
class ProcessHandler {
 public:
  virtual ~ProcessHandler() = default;
  virtual void on_output(std::string_view bytes) = 0;
  // Its standard output was closed; the process may still run.
  virtual void on_output_end() = 0;
  // The process has ended, was reaped, and all its output was delivered.
  virtual void on_exit(const ProcessExit& exit) = 0;
};

class Process : public std::enable_shared_from_this<Process> {
 public:
  // `errors` gets the lines of its standard error; may be null.
  Process(ProcessHost& host, Child child, base::LogMembers members, std::shared_ptr<ProcessHandler> handler,
          std::shared_ptr<RecentLines> errors);
  ~Process();

  void watch();

  // Queues bytes for standard input. If too many bytes wait there already, queues nothing and returns
  // false. Bytes for a process that has closed its input are dropped: its exit will show why.
  bool write(std::string bytes);
  // Bytes accepted by `write` and bytes taken by the pipe, since the start.
  std::uint64_t bytes_queued() const { return queued_; }
  std::uint64_t bytes_taken() const { return taken_; }
  // Closes standard input after the queued bytes.
  void close_input();

  // Sets the turn that further lines on standard error belong to: see ErrorOutput.
  void set_turn(const base::LogMembers& turn) { errors_.set_turn(turn); }
  // See ErrorOutput::forget.
  void forget_errors(bool keeps) { errors_.forget(keeps); }
  // Reads what it has written to standard error so far, and returns ErrorOutput::text.
  std::string errors();

  // While paused, output waits in the pipe, and the process blocks when the pipe is full.
  void pause_output();
  void resume_output();
  // While held, whether also paused or not, the handler gets no further output, no end of it and no exit.
  // Each hold needs a release.
  void hold_output();
  void release_output();
  // From now on output is read and discarded.
  void ignore_output();

  // SIGTERM to its whole group.
  void terminate();
  // SIGKILL to its whole group; its output is ignored from then on.
  void kill();

  pid_t pid() const { return child_.pid; }

 private:
  friend class ProcessHost;
  void on_output_ready();
  void on_errors_ready();
  void on_input_ready();
  void on_ended();
  bool read_output();
  void end_output();
  bool reads_output() const { return !paused_ && held_ == 0; }
  void watch_output(bool did_read);
  bool read_errors();
  void end_errors();
  void drop_input();
  void finish_if_over();

  ProcessHost& host_;
  Child child_;
  const base::EventLoop::Ready ended_ready_{[this](std::uint32_t) { on_ended(); }};
  const base::EventLoop::Ready output_ready_{[this](std::uint32_t) { on_output_ready(); }};
  const base::EventLoop::Ready errors_ready_{[this](std::uint32_t) { on_errors_ready(); }};
  const base::EventLoop::Ready input_ready_{[this](std::uint32_t) { on_input_ready(); }};
  const base::LogMembers log_members_;
  std::shared_ptr<ProcessHandler> handler_;
  ErrorOutput errors_;
  std::string waiting_;      // for its standard input
  std::size_t written_ = 0;  // of waiting_
  std::uint64_t queued_ = 0, taken_ = 0;
  std::uint64_t ignored_ = 0;
  bool input_watched_ = false;
  bool closing_input_ = false;
  bool paused_ = false;
  int held_ = 0;
  bool ignoring_ = false;
  bool ended_ = false;
  ProcessExit exit_;
};

}  // namespace baton::agents
