// ProcessHost: the thread that drives the processes of all agents.
//
// Threads: `post`, `after`, `slow_work` and `process_count` from any; `launch` on the host's own.
// Lifetime: outlives every executor, Execution and sink that uses it. Its destructor kills and reaps the
// remaining processes.
//
// An agent's descendants are killed with its process. If the host adopts orphans, that includes descendants
// that left the process's session: they become Baton's own children when their parent ends, and are killed
// within a second, or at once where Baton may make control groups (Cgroups). Children that existed before the
// host, and processes of Baton's own session, are not touched.
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
#include "base/log.h"
#include "base/worker_pool.h"

namespace baton::agents {

class Process;
class ProcessHandler;
struct Command;

class ProcessHost {
 public:
  // How long to wait after a launch that failed because the system had no descriptor or process left.
  static constexpr std::chrono::milliseconds kLaunchRetry{100};

  // `adopts_orphans`: only for a program that starts all its child processes through this host.
  explicit ProcessHost(bool adopts_orphans = false);
  ~ProcessHost();
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;

  void post(base::EventLoop::Callback callback) { loop_.post(std::move(callback)); }
  base::EventLoop::TimerId after(std::chrono::milliseconds delay, base::EventLoop::Callback callback) {
    return loop_.after(delay, std::move(callback));
  }
  void cancel(base::EventLoop::TimerId timer) { loop_.cancel(timer); }

  // Starts a process that reports to `handler`; `log_members` are those of its lines in the log. Fails as
  // `spawn` does. On overloaded, try again after kLaunchRetry.
  base::Result<std::shared_ptr<Process>> launch(const Command& command, base::LogMembers log_members,
                                                std::shared_ptr<ProcessHandler> handler);

  // The pool for what would block the host's own thread: turns' files, because it must not wait for the disk,
  // and long lines.
  base::WorkerPool& slow_work() { return slow_work_; }

  // The number of processes that were started and not yet reaped.
  std::size_t process_count() const { return count_; }

 private:
  friend class Process;
  void release(Process& process);
  void end_orphans();
  void look_for_orphans(std::chrono::milliseconds delay);
  void log_wait(const base::Error& error);

  const bool adopts_orphans_;
  std::unordered_set<pid_t> inherited_;  // children that existed before, inherited across `exec`
  base::WorkerPool slow_work_{"agent-work", 2, 1'000'000};  // outlives the loop's callbacks
  base::EventLoop loop_;
  std::atomic<std::size_t> count_{0};
  // For the loop's thread only, or after it has ended.
  struct Running {
    std::shared_ptr<Process> process;
    std::optional<Cgroups::Group> group;
  };
  std::unordered_map<Process*, Running> processes_;
  std::optional<Cgroups> groups_;
  bool looking_ = false;  // a look for orphans is scheduled
  std::chrono::steady_clock::time_point wait_logged_{};
  std::array<char, 65536> buffer_;
};

}  // namespace baton::agents
