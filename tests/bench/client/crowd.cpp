#include "client/crowd.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace baton::bench {
namespace {

constexpr std::size_t kOpeningMax = 200;
constexpr std::string_view kMark = "@ID@";

std::string random_start() {
  std::random_device source;
  return std::to_string(source()) + "-" + std::to_string(source()) + "-";
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

Crowd::Crowd(Target target, std::size_t size)
    : target_(std::move(target)), members_(size), id_begin_(random_start()), buffer_(256 << 10) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  head_ = (target_.body.empty() ? "GET " : "POST ") + target_.path + " HTTP/1.1\r\nHost: " + target_.host +
          ":" + std::to_string(target_.port) + "\r\n";
  for (const std::string& header : target_.headers) head_ += header + "\r\n";
}

Crowd::~Crowd() {
  for (const Member& member : members_) {
    if (member.fd >= 0) close(member.fd);
  }
  close(epoll_);
}

void Crowd::open(const OnNews& on_news) {
  const auto patience = Clock::now() + std::chrono::seconds(120);
  std::size_t next = 0;
  while ((next < members_.size() || opening_ > 0) && Clock::now() < patience) {
    while (next < members_.size() && opening_ < kOpeningMax) again(members_[next++]);
    run(Clock::now() + std::chrono::milliseconds(50), on_news,
        [&] { return next < members_.size() ? opening_ < kOpeningMax : opening_ == 0; });
  }
}

void Crowd::run(Clock::time_point until, const OnNews& on_news, const std::function<bool()>& done) {
  epoll_event events[256];
  while (!done()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return;
    const int count = epoll_wait(epoll_, events, 256, static_cast<int>(left));
    for (int i = 0; i < count; ++i) {
      Member& member = *static_cast<Member*>(events[i].data.ptr);
      if (member.fd >= 0 && (events[i].events & EPOLLOUT) != 0) write(member);
      if (member.fd >= 0 && (events[i].events & ~EPOLLOUT) != 0) read(member, on_news);
    }
  }
}

void Crowd::again(Member& member) {
  member.reader.reset();
  member.events_seen = 0;
  member.unsent = request();
  member.began = Clock::now();
  if (member.fd < 0) {
    connect(member);
  } else {
    write(member);
  }
}

std::string Crowd::request() {
  if (target_.body.empty()) return head_ + "\r\n";
  std::string body = target_.body;
  replace_all(body, kMark, id_begin_ + std::to_string(++next_id_));
  return head_ + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void Crowd::connect(Member& member) {
  member.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (member.fd < 0) return fail(member, std::strerror(errno));
  const int on = 1;
  setsockopt(member.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(target_.port));
  inet_pton(AF_INET, target_.host.c_str(), &address.sin_addr);
  if (::connect(member.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS) {
    return fail(member, std::strerror(errno));
  }
  member.connecting = true;
  ++opening_;
  watch(member, EPOLL_CTL_ADD);
}

void Crowd::watch(Member& member, int operation) {
  member.awaits_room = !member.unsent.empty();
  epoll_event event{};
  event.events = EPOLLIN | (member.awaits_room ? unsigned{EPOLLOUT} : 0u);
  event.data.ptr = &member;
  epoll_ctl(epoll_, operation, member.fd, &event);
}

void Crowd::write(Member& member) {
  if (std::exchange(member.connecting, false)) --opening_;
  const ssize_t sent = send(member.fd, member.unsent.data(), member.unsent.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return fail(member, std::strerror(errno));
  if (sent > 0) member.unsent.erase(0, static_cast<std::size_t>(sent));
  if (member.awaits_room == member.unsent.empty()) watch(member, EPOLL_CTL_MOD);
}

void Crowd::read(Member& member, const OnNews& on_news) {
  const ssize_t size = recv(member.fd, buffer_.data(), buffer_.size(), 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size > 0) return take(member, {buffer_.data(), static_cast<std::size_t>(size)}, on_news);
  const bool had_all = member.reader.whole();
  member.reader.end();
  close(member.fd);
  member.fd = -1;
  if (!member.reader.whole()) return fail(member, size < 0 ? std::strerror(errno) : "the connection ended");
  if (!had_all) on_news(member);
}

void Crowd::take(Member& member, std::string_view bytes, const OnNews& on_news) {
  member.reader.take(bytes);
  member.last = Clock::now();
  if (member.reader.status() != 0 && member.reader.status() != 200) {
    fail(member, "status " + std::to_string(member.reader.status()) + " " + member.reader.tail());
    return;
  }
  if (member.reader.whole() && !member.reader.keeps_open()) {
    close(member.fd);
    member.fd = -1;
  }
  on_news(member);
  member.events_seen = member.reader.events();
}

void Crowd::fail(Member& member, const std::string& why) {
  if (why_.empty()) why_ = why;
  ++failures_;
  if (std::exchange(member.connecting, false)) --opening_;
  member.failed = true;
  if (member.fd >= 0) close(member.fd);
  member.fd = -1;
}

}  // namespace baton::bench
