// HttpServer: the connection layer. It accepts, gathers whole requests under limits, hands each to a handler
// on a worker thread, and writes answers and streams. No thread belongs to a connection, a waiting reply or a
// stream.
//
// Threads: `start` and `stop` from one thread. The handler is called on the server's worker threads, several
// at a time. An Exchange may be answered from any thread, at once or later.
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

namespace baton::server::http {

struct Limits {
  std::size_t body_max = 8 << 20;
  std::size_t stranger_body_max = 16 << 10;  // of a sender that Hooks::may_send_body does not let send more
  std::size_t bodies_max = 512 << 20;        // of all unfinished bodies together
  std::size_t header_bytes_max = 32 << 10;
  int header_lines_max = 100;
  int connections_max = 20'000;
  int streams_max = 15'000;
  int connections_per_address_max = 0;            // 0: no limit, since a proxy is one address
  std::chrono::milliseconds header_time{10'000};  // for the whole head, from its first byte
  std::chrono::milliseconds body_grace{5'000};    // after this a body must average body_rate_min
  std::size_t body_rate_min = 1024;               // bytes a second
  std::chrono::milliseconds idle_time{75'000};    // between two requests on one connection
  std::chrono::milliseconds stall_time{30'000};   // a reader that takes nothing for so long is closed
  std::chrono::milliseconds keep_awake{15'000};   // silence on a stream after which a comment is sent
  // Of all streams together, read from their sources and not yet sent: past it the stream whose reader has
  // taken nothing for the longest time is closed. It can go on from the last event it has.
  std::size_t unsent_max = 64 << 20;
  int worker_threads = 3;
  std::size_t work_queue_max = 4'096;  // complete requests waiting for a worker; past it: 503
};

// A complete request. Header names are matched without regard to case.
struct Request {
  std::string method;
  std::string path;                                        // percent-decoded, without the query
  std::string raw_path;                                    // the same as it came
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string remote_address;

  // The first value of the header, or an empty view.
  std::string_view header(std::string_view name) const;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Let go of once the last byte has been sent, or cannot be.
  std::shared_ptr<const void> held = nullptr;
};

// Where an open stream's bytes come from. Called on the server's loop thread only: it must not block.
class StreamSource {
 public:
  enum class Next {
    more,  // bytes were appended and there may be more at once
    wait,  // nothing now; the source will call the stream's waker
    end,   // after what was appended the stream is over
  };
  virtual ~StreamSource() = default;
  // Appends whole events to `out`, until it holds about `room` bytes (one event may be longer).
  virtual Next pull(std::string& out, std::size_t room) = 0;
  // Whether an event it has given had an id. From then on a blank line is an event to readers that keep the
  // last id (httpx-sse), whatever stands before it.
  virtual bool has_ids() const { return false; }
  // About the memory of what it has read and not yet handed out.
  virtual std::size_t held() const { return 0; }
};

// Tells the server that a source has something again. May be called from any thread, at any time, also after
// the stream has ended; cheap; several calls before the source is pulled count as one.
using Waker = std::function<void()>;
// Makes the source of a stream, given the waker to call. Called once, on the loop thread.
using StreamOpener = std::function<std::unique_ptr<StreamSource>(Waker)>;

// One request's way back. The first answer has an effect, no other; an Exchange that is
// destroyed without one answers 500. Copies of the pointer may be kept as long as wanted: a connection
// that is waiting costs no thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  // Hands the body out without a copy; request().body is empty afterwards.
  virtual std::string take_body() = 0;
  // Lets go of the request but for these headers: whoever answers it may take long. Views into it end.
  virtual void keep_only(std::initializer_list<std::string_view> /*headers*/) {}
  virtual void reply(Reply reply) = 0;
  // Answers 200 text/event-stream and goes on with the source's bytes, chunked, until it ends or the client
  // leaves. With too many streams open it answers 503 instead.
  virtual void open_stream(std::vector<std::pair<std::string, std::string>> headers, StreamOpener opener) = 0;
  // The same where all of the stream is there: it leaves as one answer, and is never an open stream. `held`
  // is Reply's.
  virtual void reply_stream(std::vector<std::pair<std::string, std::string>> headers, std::string events,
                            std::shared_ptr<const void> held = nullptr);
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;
// Makes the body for an error the server finds by itself (400, 408, 413, 431, 503, ...).
using ErrorBody = std::function<Reply(int status, std::string_view reason)>;

// What the connection layer asks before a request is whole, or instead of handing it over. Called on the
// loop's thread: they must not block. Either may be empty.
struct Hooks {
  // The answer to a request that needs no worker, so that it comes however busy those are, and while the
  // server drains. `target` is the request's, as it came. Nothing: the request goes its usual way.
  std::function<std::optional<Reply>(std::string_view method, std::string_view target)> answer_at_once;
  // Whether a body larger than Limits::stranger_body_max may follow this head (its lines, each with CRLF).
  std::function<bool(std::string_view head)> may_send_body;
};

struct Counts {
  std::int64_t connections = 0;
  std::int64_t streams = 0;
  std::int64_t requests = 0;  // since start
  std::int64_t refused = 0;   // answered by the server itself, since start
};

class HttpServer {
 public:
  HttpServer(Limits limits, Handler handler, ErrorBody error_body, Hooks hooks = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds and serves. Returns the port that was bound (`port` 0 picks a free one). Refuses an address that
  // is in use, also by another server of ours.
  base::Result<int> start(const std::string& host, int port);

  // From now on new requests get 503, except those that Hooks::answer_at_once answers. What is being answered
  // and open streams go on.
  void drain();

  // Drains, and takes no new connections; what is being answered may finish within `grace`; then all is
  // closed. Open streams are pulled until they end or the grace is over.
  void stop(std::chrono::milliseconds grace);

  Counts counts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::server::http
