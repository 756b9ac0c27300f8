// Call: one HTTP request over an event loop, with redirects, from the look-up of the name to the answer.
//
// http_client.h has the request, the answer, the errors and calls that block.
// Threads: the loop's. Destroying a Call cancels it: its callbacks are not called again, and its connection
// is closed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "base/event_loop.h"
#include "outbound/http_client.h"

namespace baton::outbound {

class Call {
 public:
  struct Events {
    // Gets the body of a 2xx in pieces; returns false to stop, which is not an error. Empty: the body is kept
    // in the answer, up to HttpRequest::answer_max.
    std::function<bool(std::string_view)> on_data;
    // Called once, unless the Call is destroyed before. May destroy the Call.
    std::function<void(base::Result<HttpAnswer>)> on_end;
  };

  // `idle`: the longest wait for the server; zero: no limit. A total_timeout of zero is none. The loop must
  // outlive this.
  Call(base::EventLoop& loop, std::shared_ptr<const HttpRequest> request, std::chrono::milliseconds idle,
       Events events);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Begins. The call may end before this returns.
  void start();

  // Ends the call now: with the answer, if its head has come and suffices (HttpRequest::head_suffices),
  // otherwise with `unavailable`. Call it after `start`.
  void give_up();

  // Stops reading from the server, so that it has to wait, too; a piece that was read is still delivered.
  void pause();
  void resume();

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

}  // namespace baton::outbound
