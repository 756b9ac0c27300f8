#include "http/socket_io.h"

#include <sys/socket.h>

#include <cerrno>

namespace baton::http {
namespace {

IoResult result_of(ssize_t moved) {
  if (moved > 0) return {IoResult::Outcome::moved, static_cast<std::size_t>(moved)};
  const bool blocked = moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return {blocked ? IoResult::Outcome::blocked : IoResult::Outcome::closed};
}

}  // namespace

IoResult receive_some(int fd, char* out, std::size_t size) {
  ssize_t got;
  do {
    got = ::recv(fd, out, size, 0);
  } while (got < 0 && errno == EINTR);
  return result_of(got);
}

IoResult send_some(int fd, std::string_view bytes) {
  ssize_t sent;
  do {
    sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return result_of(sent);
}

void end_sending(int fd) {
  ::shutdown(fd, SHUT_WR);
}

}  // namespace baton::http
