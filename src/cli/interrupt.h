// Interrupt: Ctrl-C as a descriptor, so that waits and HTTP calls can end by it. While one exists, SIGINT
// does nothing else; make it before any thread.
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
  // Whether it has come. Stays true.
  bool pending() const { return wait(std::chrono::milliseconds(0)); }
  // Waits until it comes, at most so long; whether it has come.
  bool wait(std::chrono::milliseconds time) const;

 private:
  base::UniqueFd fd_;
};

}  // namespace baton::cli
