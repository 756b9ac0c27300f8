// RemoteCall: one call to a remote agent over an event loop, the counterpart of RemoteEndpoint.
//
// Over HTTP it is a connection of the loop. gRPC's library is used in a way that blocks, so a call over gRPC
// has a thread while it is under way. Long texts are decoded on threads that may block, and nothing more is
// read meanwhile.
//
// Threads: the loop's, but for what its functions say. Destroying it cancels the call.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "client/endpoint.h"
#include "outbound/byte_budget.h"

namespace baton::client {

class RemoteCall {
 public:
  // What calls share, and outlives them.
  struct Services {
    base::EventLoop& loop;
    base::WorkerPool& blocking;              // reads secrets from files
    base::WorkerPool& decoding;              // decodes long texts; waits for memory
    base::WorkerPool& threads;               // a thread for each call over gRPC
    outbound::ByteBudget* budget = nullptr;  // for answers; null: unbounded
  };
  // Whom the call is for.
  struct For {
    std::string account = {};
    std::string trace = {};  // as in Access
  };
  // The memory that a long answer may take while it is decoded, and until what it says is passed on. Null:
  // the answer is short.
  using Right = std::shared_ptr<const outbound::Intake::Decoding>;

  // A request. `read` gets its result, on any thread; it must own what it uses, because the RemoteCall may be
  // destroyed meanwhile. Then `on_end` is called, once; it may destroy the RemoteCall.
  struct Asking {
    protocol::a2a::ClientRequest request;
    std::chrono::milliseconds timeout{0};
    std::function<void(const tl::expected<task::Json, CallError>&)> read;
    std::function<void(Right)> on_end;
  };
  // A stream. `read` gets an event, on any thread, and must own what it uses; then `take` is called. Each
  // returns false to end the stream, and `take` may destroy the RemoteCall.
  struct Streaming {
    StreamRequest request;
    OnStreamEvent read;
    std::function<bool(const Right&)> take;
    std::function<void(StreamEnd)> on_end;
  };
  RemoteCall(const Services& services, const Remote& remote, For whom, Asking asking);
  RemoteCall(const Services& services, const Remote& remote, For whom, Streaming streaming);
  ~RemoteCall();
  RemoteCall(const RemoteCall&) = delete;
  RemoteCall& operator=(const RemoteCall&) = delete;

  // Begins. The call may end before this returns.
  void start();

  // Stops reading the stream, so that the other side has to wait, too. No event and no end come until
  // `resume`. Pause only from within `take`, or when paused.
  void pause();
  void resume();

  class Running;

 private:
  const std::shared_ptr<Running> running_;  // shared with its callbacks and threads
};

}  // namespace baton::client
