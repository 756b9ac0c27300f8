// Backoff: the pauses between requests to a server that is in trouble. They double, at random up to half
// shorter, so that turns that wait for the same server do not retry at the same moment.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <optional>

namespace baton::outbound {

class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Backoff(Milliseconds first, Milliseconds most) : pause_(first), most_(most) {}

  // The parts of a failure that determine when the next request may be made.
  struct Trouble {
    Milliseconds retry_after{0};  // the delay that the server or its breaker asks for; 0: none
    bool held = false;            // the breaker held the request back: nothing was sent
  };
  struct Pause {
    Milliseconds time{0};
    bool despite_breaker = false;  // the next request is the last, and is sent even if the breaker is open
  };
  // Returns the pause before the next request; nullopt if there would be no time for it. `left`: the time
  // until the caller gives up. A caller that was only held back, after the failures of others, still gets a
  // last request.
  std::optional<Pause> after(const Trouble& trouble, Milliseconds left);

 private:
  Milliseconds pause_;
  const Milliseconds most_;
};

}  // namespace baton::outbound
