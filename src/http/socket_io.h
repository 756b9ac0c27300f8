// Sends and receives on non-blocking sockets. All of the server's socket I/O is here, so TLS can be added
// here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace baton::http {

struct IoResult {
  enum class Outcome {
    moved,    // `count` bytes were moved, at least one
    blocked,  // no bytes can be moved now
    closed,   // the peer has closed its side, or the connection is broken
  };
  Outcome outcome;
  std::size_t count = 0;
};

IoResult receive_some(int fd, char* out, std::size_t size);
IoResult send_some(int fd, std::string_view bytes);

// Closes our sending side: the peer reads everything that was sent, then end of file.
void end_sending(int fd);

}  // namespace baton::http
