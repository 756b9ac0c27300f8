// Signals that end or reload the service, and Ctrl-C for the client commands.
#pragma once

#include <signal.h>

#include <chrono>

#include "base/unique_fd.h"

namespace baton::app {

// Blocks SIGTERM, SIGINT and SIGHUP, which are to be received with sigwait, and returns them. Ignores SIGPIPE
// and SIGXFSZ, so that they fail a call instead of ending the program (a file at its size limit is treated as
// a full disk). Call before any thread is created, because threads inherit the mask.
sigset_t block_service_signals();

// Interrupt: Ctrl-C as a file descriptor, so that it can end waits and HTTP calls. While one exists, SIGINT
// has no other effect. Create it before any thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  int fd() const { return fd_.get(); }
  // Returns true once Ctrl-C was pressed, and from then on.
  bool pending() const { return wait(std::chrono::milliseconds(0)); }
  // Waits for Ctrl-C for at most `time`. Returns true if it was pressed.
  bool wait(std::chrono::milliseconds time) const;

 private:
  base::UniqueFd fd_;
};

}  // namespace baton::app
