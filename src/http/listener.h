// Listener: a listening TCP socket, non-blocking and close-on-exec; a second one on its address fails.
//
// Threads: one at a time.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace baton::http {

struct AcceptedSocket {
  enum class Outcome {
    connection,
    none,       // no connection is waiting
    try_again,  // a connection was lost before it was accepted
    exhausted,  // out of descriptors or memory: wait before the next try
  };
  Outcome outcome;
  base::UniqueFd fd;
  std::string address;  // "192.0.2.1", "2001:db8::1"; IPv4 form even over an IPv6 socket
};

class Listener {
 public:
  // `host` is an IPv4 or IPv6 address, with or without brackets, or "localhost". Fails if the address is in
  // use.
  static base::Result<Listener> open(const std::string& host, int port);

  AcceptedSocket accept() const;
  int fd() const { return fd_.get(); }
  int port() const { return port_; }
  void close() { fd_.reset(); }

 private:
  Listener(base::UniqueFd fd, int port) : fd_(std::move(fd)), port_(port) {}

  base::UniqueFd fd_;
  int port_;
};

}  // namespace baton::http
