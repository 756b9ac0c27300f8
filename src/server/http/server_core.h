// ServerCore: what the loop, the workers and every exchange share. It lives as long as the last of them, so
// that an exchange can be answered, without effect, when the server is long gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "server/http/connection.h"
#include "server/http/http_server.h"
#include "server/http/library_request.h"
#include "server/http/mailbox.h"

namespace baton::server::http {

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
  const LibraryRequest library;
  const std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();  // shared with wakers
  std::atomic<bool> draining{false};  // new requests are refused, answers close their connection
  std::atomic<bool> stopping{false};  // and there are no new connections
  std::atomic<bool> stopped{false};   // requests that wait for a worker are dropped
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> streams{0};
  std::atomic<std::int64_t> requests{0};
  std::atomic<std::int64_t> refused{0};

  // The reply for an error the server found by itself; counts it.
  Reply refusal(int status, std::string_view reason);
};

// Serialises the answer into the connection's output and sends what the socket takes. Needs the turn. On a
// broken connection `write_failed` is set. A large body is not copied.
void write_answer(Connection& connection, Reply reply);

// Sends what is left of the output. True when nothing is left; false if the socket is full or broken.
bool send_output(Connection& connection);

}  // namespace baton::server::http
