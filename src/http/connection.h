// Connection: one accepted socket and its state. Plain data, used by the loop and by answers.
//
// Threads: the loop's members are accessed only by the loop thread; the output's members only by its owner
// (output_owner.h). The loop closes the socket, and only while it owns the output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/event_loop.h"
#include "base/unique_fd.h"
#include "http/http_server.h"
#include "http/output_owner.h"
#include "http/reply_writer.h"
#include "http/request_parser.h"
#include "http/tls_session.h"

namespace baton::http {

using SteadyTime = std::chrono::steady_clock::time_point;

class ConnectionLoop;

// An open event stream. Loop thread only.
struct EventStream {
  std::unique_ptr<StreamSource> source;
  // True if a waker has notified the loop, which has neither heard of it nor pulled since. Shared with the
  // wakers, which may outlive the stream.
  std::shared_ptr<std::atomic<bool>> woken;
  bool chunked = true;
  bool hungry = true;  // the source may have bytes: it returned `more` or called its waker
  bool ended = false;
  bool reserved = false;  // has one of Limits::reserved_streams_max places
  SteadyTime last_event;  // the time of the last event or comment
};

// A stream as the answer to a request.
struct StreamAnswer {
  Request about;              // the request, reduced by refusable()
  bool uses_reserve = false;  // see Exchange::use_reserve
  HeaderList headers;
  StreamOpener opener;
};

// Shared by the loop, until it closes the connection, and by the exchanges of its requests.
struct Connection : std::enable_shared_from_this<Connection> {
  // `asks`: see RequestParser.
  Connection(ConnectionLoop& the_loop, base::UniqueFd socket, std::string address, const Limits& limits,
             bool asks)
      : loop(the_loop), fd(std::move(socket)), remote_address(std::move(address)), parser(limits, asks) {}

  ConnectionLoop& loop;  // exists while it runs any function
  base::UniqueFd fd;
  const std::string remote_address;
  OutputOwner output_owner;

  // Used only by the loop.
  base::EventLoop::Ready ready;
  std::size_t index = 0;                    // in the loop's table
  std::size_t unsent = 0;                   // the share of the loop's `unsent_` of this connection
  std::list<Connection*>::iterator behind;  // in the loop's `behind_`; only if `unsent` is above 0
  std::size_t kept = 0;                     // the share of the loop's `kept_` of this connection
  bool open = true;
  bool surplus = false;       // above a connection limit: gets 503 and is closed
  bool half_closed = false;   // the client has closed its sending side
  bool broken = false;        // error or hang-up seen
  bool queued_again = false;  // a step of it is posted to the loop
  bool handling = false;      // the request's handler is running within `advance`
  RequestParser parser;
  std::unique_ptr<EventStream> stream;

  // Used only by the output's owner.
  std::unique_ptr<TlsSession> tls;  // null: a plain connection
  bool readable = true;             // there may be bytes in the socket
  bool read_ended = false;          // the end of the client's data was read
  bool close_after = false;         // close once `output` is sent
  bool write_failed = false;        // the client is gone
  bool full = false;                // the socket takes no bytes until its next event
  bool lingering = false;           // our side is closed; waiting for the client to close its own
  AnswerShape shape;                // of the answer to the current request
  std::string unread;               // bytes received beyond the current request
  std::string output;               // unsent from `output_sent` on
  std::size_t output_sent = 0;
  std::shared_ptr<const void> held;  // Reply::held of the reply in `output`
  SteadyTime answered;               // when that reply, or what a stream has in `output`, was written
  SteadyTime since;  // start of the current activity: idle, head, body, sending (last progress), lingering
};

}  // namespace baton::http
