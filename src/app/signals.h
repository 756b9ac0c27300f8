// Signals: those that end or reload the service, and Ctrl-C for the client commands.
#pragma once

#include <signal.h>

#include <chrono>

#include "base/unique_fd.h"

namespace baton::app {

// Blocks SIGTERM, SIGINT and SIGHUP, to be taken with sigwait, and ignores SIGPIPE and SIGXFSZ: both must
// fail a call, not end the program (a file at its size limit counts as a full disk). Call before any thread
// is created, since threads inherit the mask. Returns the blocked signals.
sigset_t block_service_signals();

// Interrupt: Ctrl-C as a descriptor, so that it can end waits and HTTP calls. While one exists, SIGINT does
// nothing else. Create it before any thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  int fd() const { return fd_.get(); }
  // Whether Ctrl-C has come. Stays true.
  bool pending() const { return wait(std::chrono::milliseconds(0)); }
  // Waits for Ctrl-C, but no longer than `time`; returns whether it has come.
  bool wait(std::chrono::milliseconds time) const;

 private:
  base::UniqueFd fd_;
};

}  // namespace baton::app
