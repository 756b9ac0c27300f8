// Interrupt: Ctrl-C as a descriptor, so that it can end waits and HTTP calls. While one exists, SIGINT does
// nothing else. Create it before any thread.
#pragma once

#include <chrono>

#include "base/unique_fd.h"

namespace baton::cli {

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

}  // namespace baton::cli
