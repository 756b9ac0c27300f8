// Dial: makes a connection for a request: the look-up of the name, the race of its addresses, the tunnel
// through a proxy, TLS. Each address is checked.
//
// Threads: the event loop's. Destroying a Dial ends it. `dial` blocks, on any thread.
#pragma once

#include <functional>
#include <memory>

#include "base/event_loop.h"
#include "outbound/http_client.h"
#include "outbound/socket.h"
#include "outbound/wait_limits.h"

namespace baton::outbound {

class Dial {
 public:
  // Errors: permission_denied (address, or proxy), deadline_exceeded, unavailable.
  using Done = std::function<void(base::Result<std::unique_ptr<Channel>>)>;

  // The loop and the request must outlive this. Of `limits`, the deadline and the idle time count.
  Dial(base::EventLoop& loop, const HttpRequest& request, Url url, const WaitLimits& limits, Done done);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  // Begins. `done` is called once, perhaps before this returns, and may destroy this.
  void start();

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

// The same on a loop of the calling thread, until the stop of `limits`.
base::Result<std::unique_ptr<Channel>> dial(const HttpRequest& request, const Url& url,
                                            const WaitLimits& limits);

}  // namespace baton::outbound
