// Call: one gRPC call of either generation, served through the REST routes. It reads one message, calls the
// handler, and writes one message or, for a stream, what its source yields.
//
// Threads: gRPC calls the On... functions on its own threads; `answer`, `open` and `fail` come from any. The
// source is made, pulled and dropped on the one thread of Shared::pulls. One write is in flight at a time;
// the source is pulled again only when all it gave is written, so that a slow reader costs no memory.
// Lifetime: gRPC uses it until OnDone; the exchange that answers it may hold it longer.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/worker_pool.h"
#include "grpc/connections.h"
#include "grpc/grpc_server.h"
#include "grpc/methods.h"
#include "grpc/proto_json.h"
#include "server/http/http_server.h"
#include "wire/sse/sse_reader.h"

namespace baton::grpc {

// The state that all calls of a server share.
struct Shared {
  Shared(DefaultAgent default_agent_now, const server::http::Limits& bounds, const GrpcLimits& more,
         server::http::Handler routes, Admission admission);

  // The status of a failed call: from the answer of the generation's REST binding, or from an error as that
  // binding would have answered it.
  ::grpc::Status failure(task::Generation generation, int http_status, std::string_view body) const;
  ::grpc::Status failure(task::Generation generation, const base::Error& error) const;

  const DefaultAgent default_agent;
  const server::http::Limits limits;
  const GrpcLimits grpc_limits;
  const server::http::Handler handler;
  const Admission admits;
  const ProtoJson messages;
  base::WorkerPool workers;  // run the handler
  base::WorkerPool pulls;    // one thread, which pulls all sources
  std::atomic<int> calls{0};
  std::atomic<int> streams{0};
  std::unique_ptr<Connections> connections;  // set before the first call
  std::atomic<bool> draining{false};         // new calls are refused
};

// The address in gRPC's peer string, "ipv4:192.0.2.1:4711" or "ipv6:%5B2001:db8::1%5D:4711".
std::string address_in(std::string_view peer);
Metadata metadata_of(const ::grpc::GenericCallbackServerContext& context);

using Headers = std::vector<std::pair<std::string, std::string>>;

class Call final : public ::grpc::ServerGenericBidiReactor, public std::enable_shared_from_this<Call> {
 public:
  // Starts the call, which gRPC drives from now on. Connections::begin_call must have accepted it.
  static Call* begin(std::shared_ptr<Shared> shared, const Method& method, Metadata metadata,
                     ::grpc::GenericCallbackServerContext& context);
  Call(std::shared_ptr<Shared> shared, const Method& method, Metadata metadata,
       ::grpc::GenericCallbackServerContext& context);

  void answer(const server::http::Reply& reply);
  void open(const Headers& headers, server::http::StreamOpener opener);
  void fail(const base::Error& error);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  enum class Step { none, write, write_last, finish, pull };
  struct State {
    std::deque<::grpc::ByteBuffer> waiting;  // to be written
    bool writing = false;
    bool streams = false;
    bool woken = false;    // the source may have something
    bool pulling = false;  // a pull is queued or runs
    bool ended = false;    // nothing follows the waiting messages
    bool answered = false;
    bool left = false;  // the client is gone
    bool finished = false;
    ::grpc::Status status;

    bool may_pull() const;
  };

  void run();
  bool sends_base64_text() const;
  void wake();
  void pull();
  void pull_some();
  void pull_soon();
  void drop_source();
  bool take_events(std::string_view bytes, std::deque<::grpc::ByteBuffer>& messages, ::grpc::Status& status);
  // Takes the next step. Never called with the state locked.
  void advance();
  Step next_step(State& state);
  void end(::grpc::Status status, std::deque<::grpc::ByteBuffer> messages = {});
  void add_headers(const Headers& headers);
  base::Result<::grpc::ByteBuffer> message_of(const std::string& json) const;
  const std::shared_ptr<Shared> shared_;
  const Method& method_;
  ::grpc::GenericCallbackServerContext& context_;  // valid until OnDone: used while not finished
  const Metadata metadata_;
  const std::string peer_;
  base::EventLoop::TimerId deadline_ = 0;  // for the message to arrive
  std::shared_ptr<Call> self_;
  ::grpc::ByteBuffer incoming_, outgoing_;
  base::Guarded<State> state_;

  // Used on the pulling thread.
  server::http::StreamOpener opener_;
  std::unique_ptr<server::http::StreamSource> source_;
  wire::SseReader reader_;
};

}  // namespace baton::grpc
