// ProcessHost: the one thread on which all processes of all agents are driven.
//
// Threads: `post`, `after` and `process_count` from any; `launch` on the host's own.
// Lifetime: outlives every executor, RunningTurn and sink that uses it. Its end kills and reaps what still
// runs.
//
// What an agent has started is killed with the agent's process. A descendant that has left that process's
// session is found all the same where this host adopts orphans: it becomes Baton's own child when its parent
// ends, and is killed then, within a second; where Baton may make control groups (Cgroups), at once. Children
// that were there before the host, and processes of Baton's own session, are not touched.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "agents/command/cgroups.h"
#include "base/error.h"
#include "base/event_loop.h"

namespace baton::agents {

class Process;
class ProcessHandler;
struct Command;

class ProcessHost {
 public:
  // How long a start waits that failed because the system had no descriptor or process left.
  static constexpr std::chrono::milliseconds kLaunchRetry{100};

  // `adopts_orphans`: only in a program that starts all its child processes here.
  explicit ProcessHost(bool adopts_orphans = false);
  ~ProcessHost();
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;

  void post(base::EventLoop::Callback callback) { loop_.post(std::move(callback)); }
  base::EventLoop::TimerId after(std::chrono::milliseconds delay, base::EventLoop::Callback callback) {
    return loop_.after(delay, std::move(callback));
  }
  void cancel(base::EventLoop::TimerId timer) { loop_.cancel(timer); }

  // Starts a process that reports to `handler`; `label` names it in the log. Fails as `spawn` does;
  // overloaded means: try again after kLaunchRetry.
  base::Result<std::shared_ptr<Process>> launch(const Command& command, std::string label,
                                                std::shared_ptr<ProcessHandler> handler);

  // Processes that were started and not yet reaped.
  std::size_t process_count() const { return count_; }

 private:
  friend class Process;
  void release(Process& process);
  void end_orphans();
  void look_for_orphans(std::chrono::milliseconds delay);
  void log_wait(const base::Error& error);

  const bool adopts_orphans_;
  std::unordered_set<pid_t> inherited_;  // children from before: whoever became Baton by `exec` had them
  base::EventLoop loop_;
  std::atomic<std::size_t> count_{0};
  // The loop's thread only, or after it has ended.
  struct Running {
    std::shared_ptr<Process> process;
    std::optional<Cgroups::Group> group;
  };
  std::unordered_map<Process*, Running> processes_;
  std::optional<Cgroups> groups_;
  bool looking_ = false;  // a look for orphans is due
  std::chrono::steady_clock::time_point wait_logged_{};
  std::array<char, 65536> buffer_;
};

}  // namespace baton::agents
