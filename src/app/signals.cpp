#include "app/signals.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <initializer_list>

namespace baton::app {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : signals) sigaddset(&set, one);
  return set;
}

}  // namespace

sigset_t block_service_signals() {
  const sigset_t signals = set_of({SIGTERM, SIGINT, SIGHUP});
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  return signals;
}

Interrupt::Interrupt() {
  const sigset_t set = set_of({SIGINT});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Consumes a pending signal first; otherwise it would end the program once it is unblocked.
Interrupt::~Interrupt() {
  signalfd_siginfo taken{};
  while (::read(fd_.get(), &taken, sizeof taken) > 0) {
  }
  const sigset_t set = set_of({SIGINT});
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupt::wait(std::chrono::milliseconds time) const {
  pollfd entry{fd_.get(), POLLIN, 0};
  return poll(&entry, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace baton::app
