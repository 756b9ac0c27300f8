// Sending and receiving on a non-blocking socket. The only place that does: TLS will come in here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace baton::server::http {

struct IoResult {
  enum class Outcome {
    moved,    // `count` bytes were moved, at least one
    blocked,  // nothing now
    closed,   // the other side has ended its direction, or the connection is broken
  };
  Outcome outcome;
  std::size_t count = 0;
};

IoResult receive_some(int fd, char* out, std::size_t size);
IoResult send_some(int fd, std::string_view bytes);

// Ends our direction: the other side reads everything that was sent, then the end.
void end_sending(int fd);

}  // namespace baton::server::http
