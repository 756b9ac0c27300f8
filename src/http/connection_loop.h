// ConnectionLoop: the one thread that accepts connections, parses requests, drives streams and enforces time
// limits.
//
// Every socket is registered once, edge-triggered. One function, `advance`, drives a connection from its
// current state for as long as the loop owns its output (output_owner.h) and nothing blocks.
// Threads: `start` and `stop` from one thread; everything private runs on the loop's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/exception_report.h"
#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "http/connection.h"
#include "http/listener.h"
#include "http/server_core.h"

namespace baton::http {

class ConnectionLoop {
 public:
  ConnectionLoop(std::shared_ptr<ServerCore> core, Listener listener);
  ~ConnectionLoop() { stop(std::chrono::milliseconds(0)); }

  void start();
  // Drains for at most `grace`, closes everything, joins.
  void stop(std::chrono::milliseconds grace);

 private:
  enum class Step { again, wait };

  // connection_loop.cpp: the thread, its events, and the table of connections.
  void run();
  bool finished();
  int milliseconds_to_wait() const;
  void on_event(Connection& connection, std::uint32_t events);
  void read_mail();
  void read(const Letter& letter);
  void run_queued();
  void accept_some();
  void add(Accepted accepted);
  void close(Connection& connection);
  void close_all();
  void watch(int fd, std::uint32_t events, void* tag);

  // An exception in `work`, most likely out of memory, closes this connection only.
  template <class Work>
  void guarded(Connection& connection, const Work& work);

  // connection_steps.cpp: one connection's steps through a request.
  void advance(Connection& connection);
  Step step(Connection& connection);
  Step read_request(Connection& connection);
  Step read_end(Connection& connection);
  void parse(Connection& connection, std::string_view bytes);
  void dispatch(Connection& connection);
  bool answer_at_once(Connection& connection, const Request& request);
  void refuse(Connection& connection, Refusal refusal);
  Step discard(Connection& connection);

  // stream_steps.cpp
  void open_stream(Connection& connection, StreamStart& start);
  Step drive_stream(Connection& connection);
  Step pull_events(Connection& connection);
  void count_unsent(Connection& connection, std::size_t bytes);
  void bound_unsent(const Connection& newest);

  // time_limits.cpp
  std::chrono::milliseconds sweep_period() const;
  void sweep();
  void check_time(Connection& connection);
  void check_stream_time(Connection& connection);
  void bound_bodies();
  bool is_body_too_slow(const Connection& connection) const;

  const std::shared_ptr<ServerCore> core_;  // shared with every exchange
  Listener listener_;
  base::UniqueFd epoll_;
  std::vector<char> buffer_;  // for every receive
  std::string scratch_;       // for every pull
  SteadyTime now_;
  SteadyTime next_sweep_;
  bool accepting_ = true;  // false until the next sweep after running out of descriptors
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> queued_;  // have more to do in the next round
  std::vector<std::shared_ptr<Connection>> closed_;  // kept until the round ends: events may point to them
  int surplus_ = 0;
  std::size_t unsent_ = 0;                            // of all streams
  std::unordered_map<std::string, int> per_address_;  // empty without a limit
  std::atomic<SteadyTime> drain_until_{SteadyTime::max()};
  std::thread thread_;
};

template <class Work>
void ConnectionLoop::guarded(Connection& connection, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    base::report_exception("http-loop", error.what());
    // Otherwise a writer owns the output; it answers and gives the output back.
    if (connection.output_owner.is_loop() || connection.output_owner.withdraw()) close(connection);
  }
}

}  // namespace baton::http
