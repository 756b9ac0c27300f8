// Connections: the open gRPC connections, and the number of calls, refusals and resets of each.
//
// Debian's gRPC does not limit the connections of an address, does not close a connection that resets call
// after call, keeps one whose client reads nothing, and its own listener does not recover once descriptors
// have run out. So Baton has its own listener: it hands each connection to gRPC and keeps a second descriptor
// of it, to learn of its end and to close it. The kernel ends a connection whose client takes none of the
// bytes that wait for it for http::Limits::stall_time.
//
// Threads: `start` and the two stops from one thread; the functions of calls and refusals from any; the rest
// runs on the loop's own thread, on which timers of calls may run too (`loop`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/event_loop.h"
#include "base/guarded.h"
#include "base/unique_fd.h"
#include "http/http_server.h"
#include "http/listener.h"
#include "server/grpc/limits.h"

namespace baton::server::grpc {

// The other end of a connection.
struct Peer {
  std::string key;      // names the connection: address and port
  std::string address;  // without the scope of a link-local one
};
// Reads gRPC's peer string, "ipv4:192.0.2.1:4711" or "ipv6:%5B2001:db8::1%25eth0%5D:4711".
Peer peer_of(std::string_view peer);

class Connections {
 public:
  // Takes over the connection: serves it and closes its descriptor in the end.
  using HandOver = std::function<void(int listener, int connection)>;

  Connections(http::Listener listener, const GrpcLimits& limits, const http::Limits& bounds,
              HandOver hand_over);

  void start();
  void stop_listening();
  void stop();

  // Begins a call on the connection with this key. Returns false if the connection has as many calls as it
  // may have.
  bool begin_call(const std::string& key);
  // Ends a call that was begun. `reset`: its client gave up before anything was answered. A connection with
  // too many resets is closed.
  void end_call(const std::string& key, bool reset);
  // Counts a refused call until its client has taken the refusal. A connection with more of them than it may
  // have resets and calls is closed.
  void begin_refusal(const std::string& key);
  void end_refusal(const std::string& key);
  // The bytes that the connection's client has taken so far, or its kernel for it. 0 if the connection is not
  // open, or if our kernel does not count them.
  std::uint64_t taken(const std::string& key) const;
  // Whether so much waits for the connection's client that the kernel takes no more.
  bool is_full(const std::string& key) const;

  base::EventLoop& loop() { return loop_; }

 private:
  struct Open {
    base::UniqueFd second;
    std::string network;
    base::EventLoop::Ready ended;
    int calls = 0;
    int refusals = 0;
    int resets = 0;  // in the window that began at `since`
    std::chrono::steady_clock::time_point since;
  };
  struct State {
    std::unordered_map<std::string, Open> open;       // by address and port
    std::unordered_map<std::string, int> of_network;  // number of open connections
  };

  void accept_some();
  bool adopt(http::AcceptedSocket accepted);
  bool may_connect(const std::string& network);
  // `second` identifies the connection, since a later one may have the same key; -1 means any.
  void drop(const std::string& key, int second);
  // Ends the connection that `second` identifies. Does nothing if that is -1.
  void close(const std::string& key, int second, const char* why);
  void pause();

  const GrpcLimits limits_;
  const int connections_max_;
  const std::chrono::milliseconds stall_time_;
  const HandOver hand_over_;
  http::Listener listener_;
  const base::EventLoop::Ready accept_{[this](std::uint32_t) { accept_some(); }};
  bool exhausted_ = false;  // the last connection could not be accepted; logged once
  base::Guarded<State> state_;
  base::EventLoop loop_{"grpc-accept"};  // last: its callbacks use the rest
};

}  // namespace baton::server::grpc
