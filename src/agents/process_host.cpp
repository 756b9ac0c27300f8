#include "agents/process_host.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "agents/command/process.h"

namespace baton::agents {

ProcessHost::ProcessHost() : loop_("agents") {
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
  // One that has ended is reaped already, and its number may be somebody else's.
  for (const auto& [process, owner] : processes_) {
    if (!process->ended_) ::kill(-process->pid(), SIGKILL);
  }
  for (const auto& [process, owner] : processes_) {
    while (!process->ended_ && waitpid(process->pid(), nullptr, 0) < 0 && errno == EINTR) {
    }
    // Handlers hold their process, too.
    process->handler_ = nullptr;
  }
}

base::Result<std::shared_ptr<Process>> ProcessHost::launch(const Command& command, std::string label,
                                                           std::shared_ptr<ProcessHandler> handler) {
  auto child = spawn(command);
  if (!child) return base::fail(std::move(child.error()));
  auto process = std::make_shared<Process>(*this, std::move(*child), std::move(label), std::move(handler));
  processes_[process.get()] = process;
  ++count_;
  process->watch();
  return process;
}

void ProcessHost::release(Process& process) {
  processes_.erase(&process);
  --count_;
}

}  // namespace baton::agents
