// ServerCore: state shared by the loop, the workers, and every exchange and waker. It lives as long as the
// last of them, so an exchange may still be answered, without effect, after the server was destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "http/connection.h"
#include "http/http_server.h"

namespace baton::http {

struct ServerCore {
  ServerCore(Limits the_limits, Handler the_handler, ErrorBody the_error_body, Hooks the_hooks)
      : limits(the_limits),
        handler(std::move(the_handler)),
        error_body(std::move(the_error_body)),
        hooks(std::move(the_hooks)) {}

  const Limits limits;
  const Handler handler;
  const ErrorBody error_body;
  const Hooks hooks;
  base::EventLoop loop{"http-loop"};    // drops functions posted after the server's end
  base::WorkerPool* workers = nullptr;  // set before the loop starts; outlives it
  std::atomic<bool> draining{false};    // new requests are refused, answers close their connection
  std::atomic<bool> stopping{false};    // also, no new connections are accepted
  std::atomic<bool> stopped{false};     // requests waiting for a worker are dropped
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> streams{0};
  std::atomic<std::int64_t> requests{0};
  std::atomic<std::int64_t> refused{0};
  // See Counts.
  struct Handshakes {
    std::atomic<std::int64_t> under_way{0}, completed{0}, failed{0}, late{0}, plain{0};
  };
  Handshakes handshakes;

  // Builds and counts the reply for an error that the server detected itself. `request`: see ErrorBody.
  Reply refusal(const Request& request, int status, std::string_view reason);
};

// Serialises the answer into the connection's output and sends as many bytes as the socket accepts. Call only
// as the output's owner. Sets `write_failed` on a broken connection. Does not copy a large body.
void write_answer(Connection& connection, Reply reply);

// Sends the remaining output. Returns false if the socket is full or broken.
bool send_output(Connection& connection);

}  // namespace baton::http
