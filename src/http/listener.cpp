#include "http/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace baton::http {
namespace {

constexpr int kBacklog = 4096;
// Limits the kernel's send buffer, which could grow to megabytes for each client that does not read.
constexpr int kSendBuffer = 64 << 10;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

base::Result<Addresses> resolve(std::string host, int port) {
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (port < 0 || port > 65535 || host.empty() ||
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the server cannot listen on this host: it must be an IP address or localhost",
                      "cannot listen on " + host + " port " + std::to_string(port));
  }
  return Addresses(list);
}

void switch_on(int fd, int level, int option, int value = 1) {
  setsockopt(fd, level, option, &value, sizeof value);
}

int bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
                                       : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr, text.data(), text.size());
    return text.data();
  }
  const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, &six, text.data(), text.size());
  }
  return text.data();
}

}  // namespace

base::Result<Listener> Listener::open(const std::string& host, int port) {
  auto addresses = resolve(host, port);
  if (!addresses) return base::fail(std::move(addresses.error()));
  const addrinfo& address = **addresses;
  base::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto failed = [&](const char* step) {
    const int error = errno;
    const std::string advice =
        error == EADDRINUSE ? ": choose another port, or stop the program that uses it" : "";
    return base::fail(
        base::ErrorCode::unavailable,
        advice.empty() ? "the server cannot listen on this address" : "the address is in use" + advice,
        std::string(step) + " " + host + " port " + std::to_string(port) + ": " + std::strerror(error) +
            advice);
  };
  if (!fd.valid()) return failed("socket");
  // Does not use SO_REUSEPORT, because it would let two servers share the port unnoticed.
  switch_on(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (address.ai_family == AF_INET6) switch_on(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  // Accepted sockets inherit these two.
  switch_on(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  switch_on(fd.get(), SOL_SOCKET, SO_SNDBUF, kSendBuffer);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0) return failed("bind");
  if (::listen(fd.get(), kBacklog) != 0) return failed("listen");
  const int bound = bound_port(fd.get());
  return Listener(std::move(fd), bound);
}

AcceptedSocket Listener::accept() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int fd =
      ::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) return {AcceptedSocket::Outcome::connection, base::UniqueFd(fd), text_of(address)};
  switch (errno) {
    case EAGAIN:
      return {AcceptedSocket::Outcome::none, {}, {}};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return {AcceptedSocket::Outcome::exhausted, {}, {}};
    default:
      // ECONNABORTED, EINTR, EPROTO and other network errors concern that connection, not the listener.
      return {AcceptedSocket::Outcome::try_again, {}, {}};
  }
}

}  // namespace baton::http
