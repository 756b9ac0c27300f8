// ProcessHost: the one thread on which all processes of all agents are driven.
//
// Threads: `post`, `after` and `process_count` from any; `launch` on the host's own.
// Lifetime: outlives every executor, RunningTurn and sink that uses it. Its end kills and reaps what still
// runs.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/event_loop.h"

namespace baton::agents {

class Process;
class ProcessHandler;
struct Command;

class ProcessHost {
 public:
  ProcessHost();
  ~ProcessHost();
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;

  void post(base::EventLoop::Callback callback) { loop_.post(std::move(callback)); }
  base::EventLoop::TimerId after(std::chrono::milliseconds delay, base::EventLoop::Callback callback) {
    return loop_.after(delay, std::move(callback));
  }
  void cancel(base::EventLoop::TimerId timer) { loop_.cancel(timer); }

  // Starts a process that reports to `handler`; `label` names it in the log. Fails as `spawn` does.
  base::Result<std::shared_ptr<Process>> launch(const Command& command, std::string label,
                                                std::shared_ptr<ProcessHandler> handler);

  // Processes that were started and not yet reaped.
  std::size_t process_count() const { return count_; }

 private:
  friend class Process;
  void release(Process& process);

  base::EventLoop loop_;
  std::atomic<std::size_t> count_{0};
  // The loop's thread only, or after it has ended.
  std::unordered_map<Process*, std::shared_ptr<Process>> processes_;
  std::array<char, 65536> buffer_;
};

}  // namespace baton::agents
