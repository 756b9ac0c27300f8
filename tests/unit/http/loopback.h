// A server on a free loopback port and a client that sends raw bytes, for the tests of this folder.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "http/http_server.h"
#include "support/patience.h"

namespace baton::http::loopback {

// As that of tests of other folders. Some conditions here open connections.
template <class Condition>
bool eventually(Condition&& condition) {
  return test::eventually(condition, std::chrono::milliseconds(1));
}

inline Reply plain_error(const Request&, int status, std::string_view reason) {
  Reply reply;
  reply.status = status;
  reply.content_type = "text/plain";
  reply.body = "error: " + std::string(reason);
  return reply;
}

// Answers with method, path and body of the request.
inline void echo(const std::shared_ptr<Exchange>& exchange) {
  const std::string line = exchange->request().method + " " + exchange->request().path + " ";
  Reply reply;
  reply.content_type = "text/plain";
  reply.body = line + exchange->take_body();
  exchange->reply(std::move(reply));
}

struct TestServer {
  explicit TestServer(Handler handler = echo, Limits limits = {}, Hooks hooks = {})
      : server(limits, std::move(handler), plain_error, std::move(hooks)),
        port(server.start("127.0.0.1", 0).value()) {}
  HttpServer server;
  int port;
};

struct Answer {
  int status = 0;    // 0 if the connection ended or nothing arrived in time
  std::string head;  // includes the status line
  std::string body;
  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

class Client {
 public:
  explicit Client(int port) : Client() { connected_ = connect(port); }
  // Creates a client that is not connected.
  Client() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval bound{std::chrono::ceil<std::chrono::seconds>(test::patience()).count(), 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
  }
  bool connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  void leave() { fd_.reset(); }
  // Closes with a reset, so that the server notices at once.
  void reset() {
    const linger at_once{1, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.reset();
  }
  // True if the server has closed the connection and no unread bytes are left.
  bool closed() const {
    char byte;
    const ssize_t seen = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return seen == 0 || (seen < 0 && errno != EAGAIN);
  }

  // Reads everything up to the end of the connection.
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }
  // Reads everything up to and including `mark`; empty if it does not arrive.
  std::string read_to(std::string_view mark) {
    std::size_t at;
    while ((at = received_.find(mark)) == std::string::npos) {
      if (!receive()) return {};
    }
    return take(at + mark.size());
  }
  std::string read_bytes(std::size_t count) {
    while (received_.size() < count && receive()) {
    }
    return take(std::min(count, received_.size()));
  }
  Answer read_answer(bool has_body = true) {
    Answer answer;
    answer.head = read_to("\r\n\r\n");
    if (answer.head.size() < 12) return answer;
    answer.status = std::atoi(answer.head.c_str() + 9);
    const auto length = answer.head.find("Content-Length: ");
    if (has_body && length != std::string::npos) {
      answer.body = read_bytes(std::strtoul(answer.head.c_str() + length + 16, nullptr, 10));
    }
    return answer;
  }
  // Reads the content of the next chunk of a chunked body; empty at the body's end.
  std::string read_chunk() {
    const std::string size = read_to("\r\n");
    const std::string chunk = read_bytes(std::strtoul(size.c_str(), nullptr, 16));
    read_bytes(2);
    return chunk;
  }
  Answer ask(std::string_view request) {
    send(request);
    return read_answer();
  }

 private:
  bool receive() {
    char buffer[16384];
    ssize_t got;
    // If a timeout is set, recv also fails with EINTR when the process is stopped and continued.
    do {
      got = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    } while (got < 0 && errno == EINTR);
    if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::string take(std::size_t count) {
    std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  base::UniqueFd fd_;
  bool connected_ = false;
  std::string received_;
};

inline std::string get(std::string_view path, std::string_view headers = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}
inline std::string post(std::string_view path, std::string_view body, std::string_view headers = {}) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

}  // namespace baton::http::loopback
