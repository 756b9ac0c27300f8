// RawServer: a loopback TCP server that answers with whatever bytes a test wants, HTTP or not.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "support/patience.h"

namespace baton::test {

class RawServer {
 public:
  // Called for each connection once its request was read. It may use `say` and `drip`.
  using Answer = std::function<void(RawServer&, int connection)>;

  // `reads`: false: nothing is read before `answer` is called.
  explicit RawServer(Answer answer, bool reads = true)
      : answer_(std::move(answer)), reads_(reads), stop_(eventfd(0, EFD_CLOEXEC)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 16);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~RawServer() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook"; }
  // All requests received, one after the other. Call this after the client's call has returned.
  const std::string& requests() const { return requests_; }

  // The connections that were accepted. Call this after the client's call has returned.
  int connections() const { return connections_; }

  // Sends the bytes. Returns false if the other side has closed the connection.
  static bool say(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Sends the bytes again and again, `pause_ms` apart, until the other side leaves or the test ends.
  void drip(int connection, std::string_view bytes, int pause_ms) {
    while (!stopped(pause_ms) && say(connection, bytes)) {
    }
  }
  // Sends nothing until the other side leaves or the test ends.
  void be_silent(int connection) {
    std::array<pollfd, 2> fds{pollfd{stop_.get(), POLLIN, 0}, pollfd{connection, POLLRDHUP, 0}};
    ::poll(fds.data(), fds.size(), static_cast<int>(patience().count()));
  }

  // Reads the whole request. Closing a connection with unread bytes would reset it and lose the answer.
  void read_request(int connection) {
    std::array<char, 4096> buffer;
    std::string request;
    while (!is_complete(request)) {
      const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      request.append(buffer.data(), static_cast<std::size_t>(got));
    }
    requests_ += request;
  }

 private:
  bool stopped(int wait_ms) {
    pollfd fd{stop_.get(), POLLIN, 0};
    return ::poll(&fd, 1, wait_ms) != 0;
  }

  void run() {
    while (true) {
      std::array<pollfd, 2> fds{pollfd{stop_.get(), POLLIN, 0}, pollfd{listener_.get(), POLLIN, 0}};
      ::poll(fds.data(), fds.size(), -1);
      if (fds[0].revents != 0) return;
      const base::UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      // Else what was sent last may wait, and is lost if the connection is closed with bytes unread.
      constexpr int kYes = 1;
      setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &kYes, sizeof kYes);
      ++connections_;
      if (reads_) read_request(connection.get());
      answer_(*this, connection.get());
    }
  }

  static bool is_complete(const std::string& request) {
    if (request.starts_with('\x16')) return true;  // a greeting of TLS
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t length = request.find(kLength);
    const std::size_t body = length < end ? std::stoul(request.substr(length + kLength.size())) : 0;
    return request.size() >= end + 4 + body;
  }

  const Answer answer_;
  const bool reads_;
  base::UniqueFd stop_;
  base::UniqueFd listener_;
  int port_ = 0;
  std::string requests_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace baton::test
