#include "http/socket_io.h"

#include <sys/socket.h>

#include <cerrno>

#include "http/tls_session.h"

namespace baton::http {
namespace {

IoResult result_of(ssize_t moved) {
  if (moved > 0) return {IoResult::Outcome::moved, static_cast<std::size_t>(moved)};
  const bool blocked = moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return {blocked ? IoResult::Outcome::blocked : IoResult::Outcome::closed};
}

}  // namespace

IoResult receive_some(int fd, TlsSession* tls, char* out, std::size_t size) {
  if (tls != nullptr) return tls->receive(out, size);
  ssize_t got;
  do {
    got = ::recv(fd, out, size, 0);
  } while (got < 0 && errno == EINTR);
  IoResult result = result_of(got);
  // A short read means that the socket is empty.
  result.drained = result.count < size;
  return result;
}

IoResult send_some(int fd, TlsSession* tls, std::string_view bytes) {
  if (tls != nullptr) return tls->send(bytes);
  ssize_t sent;
  do {
    sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return result_of(sent);
}

void end_sending(int fd, TlsSession* tls) {
  if (tls != nullptr) tls->end_sending();
  ::shutdown(fd, SHUT_WR);
}

}  // namespace baton::http
