#include "outbound/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;

constexpr const char* kNoConnection = "the connection failed";

tl::unexpected<base::Error> broken(const char* what, int error) {
  return fail(ErrorCode::unavailable, what, std::strerror(error));
}

bool is_blocked(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

base::Result<std::unique_ptr<Socket>> Socket::begin(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // parses an address, resolves no name
  addrinfo* list = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    return fail(ErrorCode::unavailable, "the address is not usable");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);

  base::UniqueFd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return broken(kNoConnection, errno);
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Detects a peer that disappeared silently within a minute, no matter how long an answer may take.
  constexpr int kKeepAliveAfter = 30, kKeepAliveEvery = 10, kKeepAliveProbes = 3;
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveAfter, sizeof kKeepAliveAfter);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEvery, sizeof kKeepAliveEvery);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  const int status = ::connect(fd.get(), list->ai_addr, list->ai_addrlen);
  if (status != 0 && errno != EINPROGRESS) return broken(kNoConnection, errno);
  return std::unique_ptr<Socket>(new Socket(std::move(fd), address));
}

base::Result<void> Socket::connected() const {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return broken(kNoConnection, error);
  return {};
}

bool Socket::is_quiet() const {
  pollfd fd{fd_.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&fd, 1, 0) == 0;
}

base::Result<std::optional<std::size_t>> Socket::read(char* buffer, std::size_t size) {
  while (true) {
    const ssize_t got = ::recv(fd_.get(), buffer, size, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (is_blocked(errno)) return std::nullopt;
    if (errno != EINTR) return broken("the connection was lost", errno);
  }
}

base::Result<std::size_t> Socket::write(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data() + taken, bytes.size() - taken, MSG_NOSIGNAL);
    if (sent > 0) taken += static_cast<std::size_t>(sent);
    if (sent < 0 && is_blocked(errno)) break;
    if (sent < 0 && errno != EINTR) return broken("the connection was lost", errno);
  }
  return taken;
}

}  // namespace baton::outbound
