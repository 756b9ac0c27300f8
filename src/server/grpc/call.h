// GrpcCall: one gRPC call of either version. It reads one message, hands it to an A2aCall, and writes one
// message or, for a stream, the frames that its source yields.
//
// Threads: gRPC calls the On... functions on its own threads; `answer`, `open`, `fail` and `admit` come from
// any. The source is made, pulled and dropped on the one thread of Shared::pulls. One write is in flight at a
// time; the source is pulled again only when all it gave is written. Bytes that the client has not taken by
// then counts for http::Limits::unsent_max, as over HTTP, unless it is an answer with a share of another
// budget. A client that takes nothing for http::Limits::stall_time, or up to twice that, loses its call. The
// kernel counts taken bytes only for a connection. So while it takes bytes of other calls, it keeps the call
// for ten times as long, once more for each 4 KiB of the message, and while its connection is full, which
// Connections bounds. The source lives until OnDone, because it may hold the share of its last messages.
// Lifetime: gRPC uses it until OnDone; the A2aCall that answers it may hold it longer.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "base/threads.h"
#include "base/worker_pool.h"
#include "http/http_server.h"
#include "protocol/grpc/methods.h"
#include "protocol/grpc/schema.h"
#include "server/grpc/call_head.h"
#include "server/grpc/call_status.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"
#include "server/shared/endpoint.h"

namespace baton::server::grpc {

class GrpcCall;

// The state that all calls of a server share.
struct Shared {
  // The bytes that clients have not taken; see http::Limits::unsent_max.
  struct Unsent {
    std::size_t bytes = 0;
    std::unordered_map<GrpcCall*, std::size_t> by_call;
  };

  Shared(DefaultAgent default_agent_now, const http::Limits& bounds, const GrpcLimits& more,
         Admission admission, Operate operate, TokenChecks checks);

  // The status of a failed call. `named`: the request's task, if known.
  ::grpc::Status failure(task::ProtocolVersion version, const base::Error& error,
                         const task::TaskId& named = {}) const;
  // The bytes of a google.rpc.Status.
  std::string status_bytes(const CallStatus& status) const;

  const DefaultAgent default_agent;
  const http::Limits limits;
  const GrpcLimits grpc_limits;
  const Admission admits;
  const Operate run;
  const TokenChecks tokens;
  const protocol::grpc::MessageSchema schema;
  const protocol::grpc::ProtoJson json{schema};  // for cards
  base::WorkerPool workers;                      // decode, and call the operations
  base::WorkerPool pulls;                        // one thread, which pulls all sources
  std::atomic<int> calls{0};
  std::atomic<int> streams{0};
  base::Guarded<Unsent> unsent;
  std::unique_ptr<Connections> connections;  // set before the first call
  std::atomic<bool> draining{false};         // new calls are refused
  bool may_have_certificates = false;        // clients are asked for them; set before the first call
};

// The status of a call to an agent that does not exist.
::grpc::Status no_agent();

Metadata metadata_of(const ::grpc::GenericCallbackServerContext& context);

using Header = std::pair<std::string, std::string>;

class GrpcCall final : public ::grpc::ServerGenericBidiReactor,
                       public std::enable_shared_from_this<GrpcCall> {
 public:
  // Starts the call, which gRPC drives from now on. Connections::begin_call must have accepted it. Without
  // `by` it waits for its token, and is then admitted or refused.
  static GrpcCall* start(std::shared_ptr<Shared> shared, const protocol::grpc::Method& method, Peer peer,
                         std::optional<server::Admitted> by, http::Request head,
                         ::grpc::GenericCallbackServerContext& context);
  GrpcCall(std::shared_ptr<Shared> shared, const protocol::grpc::Method& method, Peer peer,
           std::optional<server::Admitted> by, http::Request head,
           ::grpc::GenericCallbackServerContext& context);
  ~GrpcCall() override;

  // `header` goes before the answer unless its value is empty. `held`: as in http::Reply.
  void answer(Header header, const std::string& bytes, std::shared_ptr<const void> held = nullptr);
  void answer_frames(Header header, std::string_view frames, std::shared_ptr<const void> held = nullptr);
  void open(Header header, http::StreamOpener opener);
  void fail(const base::Error& error, const task::TaskId& named = {});

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  enum class Step { none, write, write_last, finish, pull };
  struct State {
    std::deque<::grpc::ByteBuffer> waiting;  // to be written
    std::size_t unsent = 0;                  // bytes of a stream's messages, until all of them are written
    bool writing = false;
    bool streams = false;
    bool woken = false;    // the source may have something
    bool pulling = false;  // a pull is queued or runs
    bool ended = false;    // nothing follows the waiting messages
    bool answered = false;
    bool awaits_message = true;
    bool begins_read = false;     // on another thread: gRPC must not learn of the end before
    bool is_watched = true;       // a timer will call `check_time`
    bool has_no_message = false;  // it was reset, or ended, before its message
    bool left = false;            // the client is gone
    bool finished = false;
    base::SteadyTime::time_point step_began;  // the last write, or the end
    std::size_t step_bytes = 0;               // of its message
    ::grpc::Status status;
    std::shared_ptr<const void> held;  // until OnDone
    bool has_share = false;            // StreamSource::has_share after the last pull

    bool may_pull() const;
  };

  void await_token();
  void admit();
  void run();
  void wake();
  void pull();
  void pull_some();
  void pull_soon();
  void drop_source();
  // Returns false if the stream ends with a failure; `status` then says which.
  bool take_frames(std::string_view frames, std::deque<::grpc::ByteBuffer>& messages,
                   ::grpc::Status& status) const;
  // Takes the next step. Never called with the state locked.
  void advance();
  // `message`: what to write in this step.
  Step next_step(State& state, ::grpc::ByteBuffer& message);
  // Ends the call if its message or its client is late. Otherwise looks again when either can be.
  void check_time();
  // Notes progress if the connection's client has taken some bytes since this was last noted. Asks the
  // kernel.
  void note_taken();
  void check_time_in(std::chrono::milliseconds delay);
  void end(::grpc::Status status, std::deque<::grpc::ByteBuffer> messages = {},
           std::shared_ptr<const void> held = nullptr);
  void add_header(Header header);
  void count_stream();
  // Sets how many unsent bytes of this call count. Above the limit, breaks off the calls that are most
  // behind, except the last one.
  void count_unsent(std::size_t bytes);
  // `counted`: the calls that counted when the limit was passed.
  void bound_unsent(const std::vector<std::shared_ptr<GrpcCall>>& counted);
  static void uncount(Shared::Unsent& unsent, GrpcCall* call);
  // Whether the bytes are above the limit, and not only those of one call.
  bool is_above(const Shared::Unsent& unsent) const;
  static GrpcCall* most_behind(const Shared::Unsent& unsent);
  // Ends the call without what is unsent. Does nothing after OnDone.
  void break_off();

  const std::shared_ptr<Shared> shared_;
  const protocol::grpc::Method& method_;
  ::grpc::GenericCallbackServerContext& context_;  // valid until OnDone: used while not finished
  const Peer peer_;
  // Until it runs, but for its services; nullopt while it waits for its token.
  std::optional<server::Admitted> by_;
  http::Request head_;  // until it runs
  const base::SteadyTime::time_point begin_ = base::SteadyTime::now();
  std::atomic<base::EventLoop::TimerId> timer_{0};  // calls `check_time`
  // When a write began or ended, or the client was last seen to take something; and the bytes that the
  // connection's client had taken then.
  std::atomic<base::SteadyTime::time_point> progress_{begin_};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> is_counted_{false};  // in Shared::unsent; changed with that locked
  base::Guarded<::grpc::GenericCallbackServerContext*> breakable_;  // null from OnDone on
  std::shared_ptr<GrpcCall> self_;
  ::grpc::ByteBuffer incoming_;
  base::Guarded<State> state_;

  // Used on the pulling thread.
  http::StreamOpener opener_;
  std::unique_ptr<http::StreamSource> source_;
};

// Reads the request from the message's bytes, calls the operation, and answers by `way_back` (a2a_call.cpp).
void serve(std::shared_ptr<GrpcCall> way_back, server::Admitted by, http::Request head, const Shared& shared,
           const protocol::grpc::Method& method, const std::string& bytes);

// Frames: the items of a stream in one string, as a StreamSource gives them: each has its length and its kind
// before it.
//
// Pure functions.
enum class FrameKind : char {
  message,  // the bytes of a StreamResponse
  failure,  // the bytes of the google.rpc.Status that ends the call
};

inline void append_frame(std::string& out, FrameKind kind, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  char head[sizeof size + 1];
  std::memcpy(head, &size, sizeof size);
  head[sizeof size] = static_cast<char>(kind);
  out.append(head, sizeof head).append(bytes);
}

// Calls `on_frame(kind, bytes)` for each. The frames are whole: sources never split one.
template <class F>
void each_frame(std::string_view frames, F&& on_frame) {
  std::uint32_t size = 0;
  while (frames.size() > sizeof size) {
    std::memcpy(&size, frames.data(), sizeof size);
    on_frame(static_cast<FrameKind>(frames[sizeof size]), frames.substr(sizeof size + 1, size));
    frames.remove_prefix(std::min(frames.size(), sizeof size + 1 + size));
  }
}

}  // namespace baton::server::grpc
