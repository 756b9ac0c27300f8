#include "cli/interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <csignal>

namespace baton::cli {
namespace {

sigset_t interrupt_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = interrupt_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// First takes the signal that came: when it is unblocked, it would end the program after all.
Interrupt::~Interrupt() {
  signalfd_siginfo taken{};
  while (::read(fd_.get(), &taken, sizeof taken) > 0) {
  }
  const sigset_t set = interrupt_set();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupt::wait(std::chrono::milliseconds time) const {
  pollfd entry{fd_.get(), POLLIN, 0};
  return poll(&entry, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace baton::cli
