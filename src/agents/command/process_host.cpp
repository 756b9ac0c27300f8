#include "agents/command/process_host.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_set>

#include "agents/command/process.h"

namespace baton::agents {
namespace {

constexpr std::chrono::milliseconds kOrphansEvery{1'000};
constexpr std::chrono::milliseconds kOrphansAgain{10};  // after some were killed
constexpr int kLastLooks = 100;                         // at the host's end

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/task", error), end; !error && entry != end;
       entry.increment(error)) {
    std::ifstream list(entry->path() / "children");
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  }
  return found;
}

// Kills or reaps the children that are neither in `own` nor in a session led by one of those. Returns whether
// to look again: the children of killed processes become orphans only now. Processes in Baton's own session
// are not an agent's, because each agent leads its own session.
bool kill_orphans(const std::unordered_set<pid_t>& own) {
  bool killed = false;
  const pid_t session = getsid(0);
  for (const pid_t pid : children()) {
    if (own.contains(pid)) continue;
    siginfo_t info{};
    const bool reaped =
        waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid != 0;
    // Not yet reaped, so its pid cannot have been reused.
    const pid_t leader = reaped ? 0 : getsid(pid);
    if (reaped || leader == session || own.contains(leader)) continue;
    ::kill(pid, SIGKILL);
    killed = true;
  }
  return killed;
}

}  // namespace

ProcessHost::ProcessHost(bool adopts_orphans) : adopts_orphans_(adopts_orphans), loop_("agents") {
  if (adopts_orphans_) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (const pid_t pid : children()) inherited_.insert(pid);
    groups_ = Cgroups::delegated();
  }
  // Writing to a process that is gone must be an error, not a signal to Baton.
  loop_.post([] {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  });
  loop_.start();
}

ProcessHost::~ProcessHost() {
  loop_.stop();
  // A process that has ended is reaped already, and its pid may have been reused.
  for (const auto& [process, running] : processes_) {
    if (!process->ended_) ::kill(-process->pid(), SIGKILL);
  }
  for (const auto& [process, running] : processes_) {
    while (!process->ended_ && waitpid(process->pid(), nullptr, 0) < 0 && errno == EINTR) {
    }
    // Breaks the cycle: handlers hold their process, too.
    process->handler_ = nullptr;
    if (running.group) groups_->end(*running.group);
  }
  slow_work_.stop();  // now, because its work posts to the loop
  for (int look = 0; adopts_orphans_ && look < kLastLooks && kill_orphans(inherited_); ++look) {
    std::this_thread::sleep_for(kOrphansAgain);
  }
}

void ProcessHost::end_orphans() {
  std::unordered_set<pid_t> own = inherited_;
  for (const auto& [process, running] : processes_) {
    if (!process->ended_) own.insert(process->pid());
  }
  if (kill_orphans(own)) {
    look_for_orphans(kOrphansAgain);
  } else if (own.size() > inherited_.size()) {
    look_for_orphans(kOrphansEvery);
  }
}

void ProcessHost::look_for_orphans(std::chrono::milliseconds delay) {
  if (!adopts_orphans_ || std::exchange(looking_, true)) return;
  loop_.after(delay, [this] {
    looking_ = false;
    end_orphans();
  });
}

// Logs only once in a while: hundreds of turns may be waiting.
void ProcessHost::log_wait(const base::Error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (now - wait_logged_ < std::chrono::seconds(10) && wait_logged_.time_since_epoch().count() != 0) return;
  wait_logged_ = now;
  spdlog::warn("{}; turns wait until it can be started", error.for_log);
}

base::Result<std::shared_ptr<Process>> ProcessHost::launch(const Command& command,
                                                           base::LogMembers log_members,
                                                           std::shared_ptr<ProcessHandler> handler) {
  Command grouped = command;
  auto group = groups_ ? groups_->make(command.limits) : std::nullopt;
  if (group) {
    grouped.group = group->folder;
    if (group->bounds_memory) grouped.limits.memory = 0;
    if (group->bounds_processes) grouped.limits.processes = 0;
  }
  auto child = spawn(grouped);
  if (!child) {
    if (group) groups_->end(*group);
    if (child.error().code == base::ErrorCode::overloaded) log_wait(child.error());
    return base::fail(std::move(child.error()));
  }
  auto process = std::make_shared<Process>(*this, std::move(*child), std::move(log_members),
                                           std::move(handler), command.errors);
  processes_[process.get()] = {process, std::move(group)};
  ++count_;
  process->watch();
  look_for_orphans(kOrphansEvery);
  return process;
}

void ProcessHost::release(Process& process) {
  const auto found = processes_.find(&process);
  if (found->second.group) groups_->end(*found->second.group);
  processes_.erase(found);
  --count_;
  // Does not wait for the timer: descendants that the process left behind are orphans already.
  if (adopts_orphans_) end_orphans();
}

}  // namespace baton::agents
