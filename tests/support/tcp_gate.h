// TcpGate: passes connections on to a server, and cuts them where a test says.
//
// Threads: one of its own; every method from any.
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
  // The connection that next sends something loses its client after so many bytes; the server hears no more,
  // and nothing of the end.
  void cut_request_after(std::int64_t bytes) { request_bytes_ = bytes; }
  // The connection whose next answer has this text loses its client instead of being answered.
  void cut_answer_with(const char* text) { answer_ = text; }
  // From now on what the server sends is lost if this text is in it, and the connection stays; null: no more.
  void lose_answers_with(const char* text) { lost_ = text; }
  // While shut, connections are accepted and closed.
  void shut(bool is_shut) { is_shut_ = is_shut; }
  // While frozen, nothing passes, and connections stay as they are.
  void freeze(bool is_frozen) { is_frozen_ = is_frozen; }
  // Ends all connections: each side hears of it.
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
