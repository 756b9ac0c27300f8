// A listener that accepts no connection itself: the kernel does, up to its backlog.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace baton::test {

// `port`: 0: any.
class Listener {
 public:
  Listener(const char* address, int port, int backlog)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, address, &at.sin_addr);
    socklen_t size = sizeof at;
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(fd_.get(), backlog) == 0);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    address_ = at;
  }
  int port() const { return ntohs(address_.sin_port); }

  // Fills the queue, so that further attempts to connect get no answer.
  void hang() {
    for (int i = 0; i < 4; ++i) {
      filling_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(filling_.back().get(), reinterpret_cast<sockaddr*>(&address_), sizeof address_);
    }
  }

 private:
  const base::UniqueFd fd_;
  sockaddr_in address_{};
  std::vector<base::UniqueFd> filling_;
};

}  // namespace baton::test
