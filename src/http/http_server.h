// HttpServer: the connection layer. It accepts connections, parses whole requests under limits, hands each
// to a handler, and writes answers and streams. Connections, waiting replies and streams occupy no thread.
//
// Threads: `start` and `stop` from one thread. The handler is called on the server's worker threads, several
// at a time, and for requests that Hooks::runs_on_loop names on the loop's thread. An Exchange may be
// answered from any thread, at once or later.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/tls/peer.h"

namespace baton::http {

namespace tls {
class Identity;
}

struct Limits {
  std::size_t body_max = 8 << 20;
  std::size_t stranger_body_max = 16 << 10;  // body_max unless Hooks::may_send_body allows it
  std::size_t bodies_max = 512 << 20;        // of all unfinished bodies together
  std::size_t header_bytes_max = 32 << 10;
  int header_lines_max = 100;
  int connections_max = 20'000;
  int streams_max = 15'000;
  int reserved_streams_max = 64;                  // in addition to streams_max, for Exchange::use_reserve
  int connections_per_address_max = 0;            // 0: no limit, because behind a proxy all have one address
  std::chrono::milliseconds header_time{10'000};  // for the whole head, and for Hooks::may_send_body
  std::chrono::milliseconds body_grace{5'000};    // after this a body must average body_rate_min
  std::size_t body_rate_min = 1024;               // bytes per second
  std::chrono::milliseconds idle_time{75'000};    // between two requests on one connection
  std::chrono::milliseconds stall_time{30'000};   // a client that reads nothing for this long is closed
  std::chrono::milliseconds keep_awake{15'000};   // silence on a stream after which a comment is sent
  // Bytes of all answers together that are not sent yet: what was read from the sources of streams, and
  // replies without `Reply::held`, each for at most a quarter of the limit. Above this limit, the connection
  // is closed for which the product of three figures is largest: the bytes that wait for its client, those
  // that wait for all clients of its address, and the time since it last read. A stream can be resumed from
  // its last event. What streams keep for their end (StreamSource::kept) has the same limit and is counted
  // apart, so that clients who read at once never close slow readers: above 64 KiB of each stream.
  std::size_t unsent_max = 64 << 20;
  // After this time a reply or a stream may be broken off because others need its share (Hooks::others_wait).
  std::chrono::milliseconds held_time{30'000};
  int handshakes_max = 1'024;  // of TLS, under way; further connections wait to be accepted
  int handshake_threads = 1;
  std::chrono::milliseconds handshake_time{10'000};  // for a whole handshake
  int worker_threads = 3;
  std::size_t work_queue_max = 4'096;  // complete requests waiting for a worker; further ones get 503
};

// A complete request. Header names are case-insensitive; headers and query are in the order received.
struct Request {
  std::string method;
  std::string path;                                        // percent-decoded, without the query
  std::string raw_path;                                    // the same as received
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded, in UTF-8
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string remote_address;
  // The client's; null: it has none.
  std::shared_ptr<const tls::Peer> certificate = nullptr;

  // The first value of the header, or an empty view.
  std::string_view header(std::string_view name) const;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Released once the last byte has been sent, or sending has failed. It limits such replies: they do not
  // count for Limits::unsent_max.
  std::shared_ptr<const void> held = nullptr;
};

// Produces an open stream's bytes. Called only on the server's loop thread; must not block.
class StreamSource {
 public:
  enum class Next {
    more,  // more may be available now; if no bytes were appended, other connections come first
    wait,  // no bytes now; the source will call the stream's waker
    end,   // the stream ends after the appended bytes
  };
  virtual ~StreamSource() = default;
  // Appends whole events to `out`, until it holds about `room` bytes (one event may be longer).
  virtual Next pull(std::string& out, std::size_t room) = 0;
  // Returns true once an event with an id was sent. From then on, readers that keep the last id (httpx-sse)
  // mistake any blank line for an event.
  virtual bool has_ids() const { return false; }
  // Approximate bytes read and not yet handed out, or kept for the stream's end. If they grow without a pull,
  // the source calls its waker.
  virtual std::size_t held() const { return 0; }
  // The share of `held` that is kept for the stream's end, however fast its client reads.
  virtual std::size_t kept() const { return 0; }
  // Returns true while the bytes pulled last hold what others may wait for, as Reply::held does.
  virtual bool has_share() const { return false; }
};

// Notifies the server that a source has bytes again. May be called from any thread at any time, even after
// the stream has ended. Cheap; calls that come before the loop has heard of the first one count as one.
using Waker = std::function<void()>;
// Creates the source of a stream, which is to call the given waker. Called once, on the loop thread.
using StreamOpener = std::function<std::unique_ptr<StreamSource>(Waker)>;

// One request and the means to answer it. Only the first answer has an effect; an Exchange destroyed without
// one answers 500. The pointer may be kept for as long as needed: a waiting connection occupies no thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  // Moves the body out; request().body is empty afterwards.
  virtual std::string take_body() = 0;
  // Frees the request except its method, path and these headers, for answers that take long. Invalidates
  // views into the request.
  virtual void keep_only(std::initializer_list<std::string_view> /*headers*/) {}
  // Runs `work` where it may block. On a worker's thread it runs before `block` returns; from the loop's
  // thread it is queued for a worker. Answers 503 instead if too many requests wait for a worker.
  virtual void block(std::function<void()> work) { work(); }
  // Runs `work` on the loop's thread, for callbacks that answer many at once. It must not block, and is
  // dropped if the connection is closed first.
  virtual void on_loop(std::function<void()> work) { work(); }
  virtual void reply(Reply reply) = 0;
  // Lets the stream of this exchange use one of the reserved places, or an ordinary one if none of them is
  // left. Call before open_stream.
  virtual void use_reserve() {}
  // Answers 200 text/event-stream and sends the source's bytes, chunked, until the source ends or the client
  // leaves. Answers 503 instead if too many streams are open.
  virtual void open_stream(std::vector<std::pair<std::string, std::string>> headers, StreamOpener opener) = 0;
  // Answers with a complete event stream as one reply, never an open stream. `held`: see Reply.
  virtual void reply_stream(std::vector<std::pair<std::string, std::string>> headers, std::string events,
                            std::shared_ptr<const void> held = nullptr);
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;
// Builds the reply for an error that the server detects itself (400, 408, 413, 431, 503, ...). `request` is
// the known part of the request, with only those headers that the form of an answer depends on. It has no
// path if the request line is not known. Runs on any of the server's threads and must not block.
using ErrorBody = std::function<Reply(const Request& request, int status, std::string_view reason)>;

// Whether a body larger than Limits::stranger_body_max may follow a head.
enum class LargeBody {
  allowed,
  refused,  // with 401
  unclear,  // cannot be decided at the moment: refused with 503
};
// Reports the decision; from any thread, once.
using Decide = std::function<void(LargeBody)>;

// Called by the connection layer before a request is complete, or instead of the handler. They run on the
// loop's thread and must not block. Any may be empty.
struct Hooks {
  // Returns the answer to a request that needs no worker, so that it is sent even if all workers are busy or
  // the server drains. Returns nullopt if the request is to be handled as usual.
  std::function<std::optional<Reply>(const Request& request)> answer_at_once;
  // Returns true if the handler may be called on the loop's thread, because it calls Exchange::block before
  // any blocking work. An empty function: a worker always calls the handler.
  std::function<bool(const Request& request)> runs_on_loop;
  // Returns whether a large body may follow this head. Returns nullopt, and calls `decide` later, if that
  // takes long; nothing more of the connection is read meanwhile, for at most Limits::header_time.
  // The head is valid only during the call, and its body is empty.
  std::function<std::optional<LargeBody>(const Request& head, Decide decide)> may_send_body;
  // Returns true if somebody waits for a share that replies and streams hold (Reply::held,
  // StreamSource::has_share). The slowest of them is then broken off, if its bytes have been on their way for
  // Limits::held_time; at most one in each look at the time limits.
  std::function<bool()> others_wait;
};

struct Counts {
  std::int64_t connections = 0;
  std::int64_t streams = 0;
  std::int64_t requests = 0;  // since start
  std::int64_t refused = 0;   // answered by the server itself, since start
  struct Handshakes {
    std::int64_t under_way = 0;
    // Since start, by their end.
    std::int64_t completed = 0, failed = 0, late = 0, plain = 0;
  };
  std::optional<Handshakes> handshakes = {};  // none without TLS
};

class HttpServer {
 public:
  HttpServer(Limits limits, Handler handler, ErrorBody error_body, Hooks hooks = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds and serves, over TLS if `identity` is given, which must outlive the server. Returns the bound port
  // (`port` 0 picks a free one). Fails if the address is in use, even by another Baton.
  base::Result<int> start(const std::string& host, int port, const tls::Identity* identity = nullptr);

  // Answers new requests with 503, except those that Hooks::answer_at_once answers. Requests in progress and
  // open streams continue.
  void drain();

  // Drains and accepts no new connections. Requests in progress and open streams may finish within `grace`;
  // then everything is closed.
  void stop(std::chrono::milliseconds grace);

  Counts counts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::http
