#include "limit/share/tiny_http.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <iostream>
#include <utility>

namespace baton::bench {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::size_t body_size(std::string_view head) {
  for (std::size_t at = 0; at != std::string_view::npos; at = head.find('\n', at + 1)) {
    const std::string_view line = head.substr(at == 0 ? 0 : at + 1);
    constexpr std::string_view kName = "content-length: ";
    if (line.size() <= kName.size() || strncasecmp(line.data(), kName.data(), kName.size()) != 0) continue;
    std::size_t size = 0;
    std::from_chars(line.data() + kName.size(), line.data() + line.size(), size);
    return size;
  }
  return 0;
}

}  // namespace

TinyHttp::TinyHttp(OnRequest on_request) : on_request_(std::move(on_request)) {
  signal(SIGPIPE, SIG_IGN);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  wakeup_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void TinyHttp::listen() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) != 0 || ::listen(listener_, 4096) != 0) {
    std::cerr << "cannot listen: " << std::strerror(errno) << std::endl;
    _exit(1);
  }
  getsockname(listener_, generic, &size);
  for (const int fd : {listener_, wakeup_}) {
    epoll_event event{EPOLLIN, {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  std::cout << "listening on http://127.0.0.1:" << ntohs(address.sin_port) << std::endl;
}

void TinyHttp::run() {
  epoll_event events[256];
  while (true) {
    const int count = epoll_wait(epoll_, events, 256, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener_) {
        accept_all();
      } else if (fd == wakeup_) {
        answer_waiting();
      } else {
        read(fd);
      }
    }
  }
}

void TinyHttp::accept_all() {
  int fd = -1;
  while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{EPOLLIN, {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    unread_[fd].clear();
  }
}

void TinyHttp::read(int connection) {
  char buffer[16 << 10];
  const ssize_t size = recv(connection, buffer, sizeof buffer, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) {
    unread_.erase(connection);
    close(connection);
    return;
  }
  std::string& text = unread_[connection];
  text.append(buffer, static_cast<std::size_t>(size));
  take_requests(connection, text);
}

void TinyHttp::take_requests(int connection, std::string& text) {
  const std::size_t head = text.find(kHeadEnd);
  if (head == std::string::npos) return;
  const std::size_t begin = head + kHeadEnd.size();
  const std::size_t size = body_size(std::string_view(text).substr(0, head));
  if (text.size() < begin + size) return;
  const std::string body = text.substr(begin, size);
  text.erase(0, begin + size);
  on_request_(connection, body);
}

void TinyHttp::answer(int connection, std::string_view body) {
  if (!unread_.contains(connection)) return;
  std::string text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
  text.append(std::to_string(body.size())).append(kHeadEnd).append(body);
  send(connection, text.data(), text.size(), 0);
}

void TinyHttp::answer_later(std::vector<int> connections, const std::string& body) {
  {
    std::lock_guard lock(mutex_);
    for (const int connection : connections) waiting_.emplace_back(connection, body);
  }
  eventfd_write(wakeup_, 1);
}

void TinyHttp::answer_waiting() {
  eventfd_t count = 0;
  eventfd_read(wakeup_, &count);
  std::vector<std::pair<int, std::string>> waiting;
  {
    std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (const auto& [connection, body] : waiting) answer(connection, body);
}

}  // namespace baton::bench
