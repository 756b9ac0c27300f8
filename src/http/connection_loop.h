// ConnectionLoop: accepts connections, parses requests, drives streams and enforces time limits, on the one
// event loop of the server (ServerCore::loop).
//
// Every socket is registered once, edge-triggered. One function, `advance`, drives a connection from its
// current state for as long as the loop owns its output (output_owner.h) and nothing blocks.
// Threads: `start` and `stop` from one thread, `post` from any; everything else runs on the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/event_loop.h"
#include "base/exception_report.h"
#include "http/connection.h"
#include "http/handshakes.h"
#include "http/listener.h"
#include "http/server_core.h"

namespace baton::http {

class ConnectionLoop {
 public:
  // `identity`: null for plain HTTP.
  ConnectionLoop(std::shared_ptr<ServerCore> core, Listener listener, const tls::Identity* identity);
  ~ConnectionLoop() { stop(std::chrono::milliseconds(0)); }

  void start();
  // Drains for at most `grace`, closes everything, joins.
  void stop(std::chrono::milliseconds grace);

  // Runs `work` with the connection's loop and the connection on the loop's thread, unless the connection is
  // closed first.
  template <class Work>
  static void post(base::EventLoop& loop, std::shared_ptr<Connection> connection, Work work);
  // Continues with the connection after a writer has given its output back.
  void resume(Connection& connection);
  // Opens the stream that an exchange answers with, and takes the output from the exchange.
  void open_stream(Connection& connection, const StreamAnswer& answer);

 private:
  // What to do next: another step at once, nothing until an event, or another step after other connections.
  enum class Step { again, wait, later };

  // Events, and the table of connections.
  SteadyTime now() const { return core_->loop.now(); }
  SteadyTime end_round();
  void on_event(Connection& connection, std::uint32_t events);
  void accept_some();
  void pause_accepting();
  void resume_accepting();
  void add(AcceptedSocket accepted);
  // Counts a connection. Returns true if it is above a limit, nullopt if it is to be closed without an
  // answer.
  std::optional<bool> take_place(const std::string& address);
  void give_place_back(const std::string& address, bool surplus);
  void greeted(Greeted& socket);
  // Opens a connection that has a place, or gives the place back and throws.
  void open(Greeted& socket);
  void close(Connection& connection);
  void close_all();

  // Runs `work`. An exception from it, most likely out of memory, closes this connection only. The connection
  // object lives at least until `work` has returned.
  template <class Work>
  void guarded(const std::shared_ptr<Connection> connection, const Work& work);

  // Steps of a connection.
  void advance(Connection& connection);
  void advance_again(Connection& connection);
  Step step(Connection& connection);
  Step read_request(Connection& connection);
  Step read_end(Connection& connection);
  void parse(Connection& connection, std::string_view bytes);
  bool ask(Connection& connection);
  void decided(Connection& connection, LargeBody large_body);
  void dispatch(Connection& connection);
  bool answer_at_once(Connection& connection, const Request& request);
  void refuse(Connection& connection, Refusal refusal);
  Step discard(Connection& connection);

  // Event streams.
  void wake(Connection& connection);
  Step drive_stream(Connection& connection);
  Step pull_events(Connection& connection);
  void end_stream(Connection& connection);

  // Unsent bytes.
  void await_reader(Connection& connection);
  void count_stream(Connection& connection);
  void count_unsent(Connection& connection, std::size_t bytes);
  void bound_unsent();
  Connection& most_behind() const;
  void count_kept(Connection& connection, std::size_t bytes);
  void bound_kept(const Connection& grown);

  // Time limits.
  std::chrono::milliseconds sweep_period() const;
  void sweep();
  void check_time(Connection& connection);
  void check_stream_time(Connection& connection);
  void bound_bodies();
  void bound_held();
  bool is_body_too_slow(const Connection& connection) const;

  const std::shared_ptr<ServerCore> core_;  // shared with every exchange
  Listener listener_;
  const base::EventLoop::Ready accept_{[this](std::uint32_t) { accept_some(); }};
  std::vector<char> buffer_;  // for every receive
  std::string scratch_;       // for every pull
  SteadyTime next_sweep_{};
  bool accepting_ = true;  // false while descriptors or places for handshakes are used up
  std::vector<std::shared_ptr<Connection>> connections_;
  int surplus_ = 0;
  int reserved_streams_ = 0;                          // among ServerCore::streams
  std::size_t unsent_ = 0;                            // see Limits::unsent_max
  std::list<Connection*> behind_;                     // those with unsent bytes
  std::size_t kept_ = 0;                              // by streams for their ends
  std::unordered_map<std::string, int> per_address_;  // empty without a limit
  std::optional<SteadyTime> drain_until_;             // set while the loop stops
  std::promise<void> closed_all_;
  bool started_ = false;
  std::optional<Handshakes> handshakes_;  // none for plain HTTP
};

template <class Work>
void ConnectionLoop::guarded(const std::shared_ptr<Connection> connection, const Work& work) {
  try {
    work(*connection);
  } catch (const std::exception& error) {
    base::report_exception("http-loop", error.what());
    // If neither is true, a writer owns the output. It answers, and gives the output back.
    if (connection->output_owner.is_loop() || connection->output_owner.withdraw()) close(*connection);
  }
}

template <class Work>
void ConnectionLoop::post(base::EventLoop& loop, std::shared_ptr<Connection> connection, Work work) {
  loop.post([to = std::move(connection), work = std::move(work)] {
    if (!to->open) return;
    to->loop.guarded(to, [&](Connection& open) { std::invoke(work, to->loop, open); });
  });
}

}  // namespace baton::http
