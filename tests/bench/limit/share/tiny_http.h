// TinyHttp: a minimal HTTP server for keep-alive POSTs and GETs, with one thread and epoll, to measure the
// maximum of a machine. Trusts requests; handles one at a time on each connection.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace baton::bench {

class TinyHttp {
 public:
  // Gets the connection and the request's body, on the loop's thread.
  using OnRequest = std::function<void(int, std::string_view)>;

  explicit TinyHttp(OnRequest on_request);

  // Listens on a free loopback port and prints "listening on URL".
  void listen();
  // Never returns.
  [[noreturn]] void run();

  // Answers a request. Call on the loop's thread.
  void answer(int connection, std::string_view body);
  // Answers the requests of these connections with the same body. May be called from any thread.
  void answer_later(std::vector<int> connections, const std::string& body);

 private:
  void accept_all();
  void read(int connection);
  void take_requests(int connection, std::string& text);
  void answer_waiting();

  const OnRequest on_request_;
  int epoll_ = -1, listener_ = -1, wakeup_ = -1;
  std::unordered_map<int, std::string> unread_;  // the beginning of a request, by connection
  std::mutex mutex_;
  std::vector<std::pair<int, std::string>> waiting_;
};

}  // namespace baton::bench
