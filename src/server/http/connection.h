// Connection: one accepted socket and what is known about it. Plain data; loop and answers act on it.
//
// Threads: two groups of members. Those of the loop are touched by the loop thread alone. Those of the turn
// are touched by whoever has the turn (turn.h). The socket is closed by the loop, and only with the turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "server/http/http_server.h"
#include "server/http/reply_writer.h"
#include "server/http/request_gatherer.h"
#include "server/http/turn.h"

namespace baton::server::http {

using SteadyTime = std::chrono::steady_clock::time_point;

class WakeSignal;

// An open event stream. The loop's.
struct EventStream {
  std::unique_ptr<StreamSource> source;
  std::shared_ptr<WakeSignal> signal;  // shared with the wakers, which may outlive the stream
  bool chunked = true;
  bool hungry = true;  // the source may have something: it said `more`, or it called its waker
  bool ended = false;
  SteadyTime last_event;  // or comment
};

// Shared by the loop, which lets go of it when it closes it, and by the exchanges of its requests.
struct Connection : std::enable_shared_from_this<Connection> {
  Connection(base::UniqueFd socket, std::string address, const Limits& limits, const BodyGate& may_send_body)
      : fd(std::move(socket)), remote_address(std::move(address)), gatherer(limits, &may_send_body) {}

  base::UniqueFd fd;
  const std::string remote_address;
  Turn turn;

  // The loop's.
  std::size_t index = 0;   // in the loop's table
  std::size_t unsent = 0;  // of its stream, as the loop counts it
  bool open = true;
  bool surplus = false;       // over a limit on connections: it gets 503 and is closed
  bool half_closed = false;   // the client has ended its direction
  bool broken = false;        // error or hang-up seen
  bool queued_again = false;  // for another go in this round
  RequestGatherer gatherer;
  std::unique_ptr<EventStream> stream;

  // The turn's.
  bool readable = true;       // there may be bytes in the socket
  bool read_ended = false;    // all of the client's direction was read
  bool close_after = false;   // once `output` is sent
  bool write_failed = false;  // the client is gone
  bool lingering = false;     // our direction has ended; waiting for the client's end
  AnswerShape shape;          // of the answer to the request under way
  std::string unread;         // bytes received beyond the request under way
  std::string output;         // what is still to be sent, from `output_sent` on
  std::size_t output_sent = 0;
  std::shared_ptr<const void> held;  // of the reply that `output` is
  SteadyTime
      since;  // start of what it is doing now: waiting, a head, a body, sending (last progress), lingering
};

}  // namespace baton::server::http
