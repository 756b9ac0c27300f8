// Connections: everybody who is connected over gRPC, and how much each of them does.
//
// Debian's gRPC has no cap on the connections of an address, does not close a connection that resets call
// after call, and its own listener stays dead once descriptors ran out. So the listener is ours: it hands
// each connection to gRPC and keeps a second descriptor of it, by which it hears of the end and can bring it
// about.
//
// Threads: `start` and the two stops from one thread; `begin_call` and `end_call` from any; the rest runs on
// a thread of its own, on which timers of calls may run too (`loop`).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/event_loop.h"
#include "base/guarded.h"
#include "base/unique_fd.h"
#include "grpc/limits.h"
#include "server/http/listener.h"

namespace baton::grpc {

class Connections {
 public:
  // Serves the connection from now on, and closes the descriptor some day.
  using HandOver = std::function<void(int listener, int connection)>;

  Connections(server::http::Listener listener, const GrpcLimits& limits, int connections_max,
              HandOver hand_over);

  void start();
  void stop_listening();
  void stop();

  // A call begins on the connection that gRPC calls `peer`. False: it has as many as it may have.
  bool begin_call(std::string_view peer);
  // One that was begun is over. `reset`: its client gave it up before anything was answered. A connection
  // that does so too often is closed.
  void end_call(std::string_view peer, bool reset);

  base::EventLoop& loop() { return loop_; }

 private:
  struct Open {
    base::UniqueFd second;
    std::string network;
    int calls = 0;
    int resets = 0;  // since
    std::chrono::steady_clock::time_point since;
  };
  struct State {
    std::unordered_map<std::string, Open> open;       // by address and port
    std::unordered_map<std::string, int> of_network;  // how many
  };

  void accept_some();
  bool take(server::http::Accepted accepted);
  bool may_connect(const std::string& network);
  // `second` says which connection is meant, as another may have its name by now; -1: whichever.
  void drop(const std::string& key, int second);
  void pause();

  const GrpcLimits limits_;
  const int connections_max_;
  const HandOver hand_over_;
  server::http::Listener listener_;
  bool exhausted_ = false;  // the last connection could not be taken: said once
  base::Guarded<State> state_;
  base::EventLoop loop_{"grpc-accept"};  // last: its callbacks use the rest
};

}  // namespace baton::grpc
