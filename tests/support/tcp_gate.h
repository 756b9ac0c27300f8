// TcpGate: a TCP proxy before a server that cuts connections where a test wants it.
//
// Threads: runs one of its own; call its methods from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace baton::test {

class TcpGate {
 public:
  // `port` on 127.0.0.1.
  explicit TcpGate(int port);

  int port() const { return port_; }
  // Drops the client of the next connection that sends something, after `bytes` bytes. The server gets
  // nothing after these bytes and does not see the connection end.
  void cut_request_after(std::int64_t bytes) { request_bytes_ = bytes; }
  // Drops the client of the first connection whose answer contains `text`, instead of passing on the answer.
  void cut_answer_with(const char* text) { answer_ = text; }
  // Discards everything the server sends that contains `text`, and keeps the connections open. Null ends
  // this.
  void lose_answers_with(const char* text) { lost_ = text; }
  // While shut, connections are accepted and closed.
  void shut(bool is_shut) { is_shut_ = is_shut; }
  // While frozen, nothing is passed on, and connections stay open.
  void freeze(bool is_frozen) { is_frozen_ = is_frozen; }
  // Closes all connections on both sides.
  void cut_all() { cuts_all_ = true; }
  int cuts() const { return cuts_; }

 private:
  struct Pair {
    base::UniqueFd client, server;
  };
  void run(const std::stop_token& stop);
  void accept_one();
  void pass_request(Pair& pair);
  void pass_answer(Pair& pair);

  const int server_port_;
  base::UniqueFd listener_;
  int port_ = 0;
  std::list<Pair> pairs_;
  std::atomic<std::int64_t> request_bytes_ = -1;
  std::atomic<const char*> answer_ = nullptr, lost_ = nullptr;
  std::atomic<bool> is_shut_ = false, is_frozen_ = false, cuts_all_ = false;
  std::atomic<int> cuts_ = 0;
  std::jthread thread_;
};

}  // namespace baton::test
