#include "outbound/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

tl::unexpected<base::Error> broken(const char* what, int error) {
  return fail(ErrorCode::unavailable, what, std::strerror(error));
}

// Returns the limit of one wait: the shorter of the remaining time and the idle time; nullopt for no limit.
std::optional<milliseconds> longest_wait(const WaitLimits& limits, milliseconds idle) {
  std::optional<milliseconds> longest;
  if (idle.count() > 0) longest = idle;
  if (limits.deadline) {
    const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - std::chrono::steady_clock::now());
    longest = std::min(longest.value_or(left), left);
  }
  return longest;
}

}  // namespace

base::Result<std::unique_ptr<Socket>> Socket::connect(const std::string& address, int port,
                                                      milliseconds timeout, const WaitLimits& limits) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // parses an address, resolves no name
  addrinfo* list = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    return fail(ErrorCode::unavailable, "the address cannot be dialled");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);

  base::UniqueFd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return broken("no connection could be made", errno);
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Detects a peer that disappeared silently within a minute, no matter how long an answer may take.
  constexpr int kKeepAliveAfter = 30, kKeepAliveEvery = 10, kKeepAliveProbes = 3;
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveAfter, sizeof kKeepAliveAfter);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEvery, sizeof kKeepAliveEvery);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  const int status = ::connect(fd.get(), list->ai_addr, list->ai_addrlen);
  if (status != 0 && errno != EINPROGRESS) return broken("no connection could be made", errno);

  std::unique_ptr<Socket> socket(new Socket(std::move(fd), limits));
  if (status != 0) {
    if (const auto ready = socket->wait(POLLOUT, timeout); !ready) return fail(ready.error());
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket->fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return broken("no connection could be made", error);
  return socket;
}

base::Result<void> Socket::wait(short events, milliseconds idle) {
  std::array<pollfd, 2> fds{pollfd{fd_.get(), events, 0}, pollfd{limits_.stop_fd, POLLIN, 0}};
  const SteadyTime began = std::chrono::steady_clock::now();
  while (true) {
    // A signal may interrupt a wait: the idle time still counts from its start.
    milliseconds left = idle;
    if (idle.count() > 0) {
      left -= std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - began);
      left = std::max(left, milliseconds(1));
    }
    const std::optional<milliseconds> longest = longest_wait(limits_, left);
    if (longest && longest->count() <= 0) break;
    const int timeout = longest ? static_cast<int>(std::min<std::int64_t>(longest->count(), 3'600'000)) : -1;
    const int count = ::poll(fds.data(), fds.size(), timeout);
    if (count < 0 && errno != EINTR) return broken("waiting for the connection failed", errno);
    if (count == 0) {
      if (longest->count() > timeout) continue;
      break;
    }
    if (count > 0 && fds[1].revents != 0) return fail(ErrorCode::unavailable, "the request was abandoned");
    if (count > 0 && fds[0].revents != 0) return {};
  }
  return fail(ErrorCode::deadline_exceeded, "the other side took too long");
}

base::Result<std::size_t> Socket::read(char* buffer, std::size_t size) {
  while (true) {
    if (const auto ready = wait(POLLIN, idle()); !ready) return fail(ready.error());
    const ssize_t got = ::recv(fd_.get(), buffer, size, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) return broken("the connection broke", errno);
  }
}

base::Result<void> Socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (const auto ready = wait(POLLOUT, idle()); !ready) return fail(ready.error());
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return broken("the connection broke", errno);
  }
  return {};
}

}  // namespace baton::outbound
