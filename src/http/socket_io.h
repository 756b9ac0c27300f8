// Sends and receives on non-blocking sockets, through TLS if the connection has a session. All of the
// server's socket I/O is here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace baton::http {

class TlsSession;

struct IoResult {
  enum class Outcome {
    moved,    // `count` bytes were moved, at least one
    blocked,  // no bytes can be moved now
    crossed,  // TLS must send bytes before it can receive, or the reverse: try again after any event
    closed,   // the peer has closed its side, or the connection is broken
  };
  Outcome outcome;
  std::size_t count = 0;
  // After `receive_some`: no bytes are left here or in the socket, so an event will report new ones.
  bool drained = false;
};

// `tls`: null for a plain connection.
IoResult receive_some(int fd, TlsSession* tls, char* out, std::size_t size);
// After `blocked` and `crossed`, the next call must begin with the same bytes.
IoResult send_some(int fd, TlsSession* tls, std::string_view bytes);

// Closes our sending side: the peer reads everything that was sent, then end of file.
void end_sending(int fd, TlsSession* tls);

}  // namespace baton::http
