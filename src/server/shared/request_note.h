// RequestNote: what a request was about, for its span and its line in the access log. There are notes only
// where one of the two is on.
//
// Who handles the request puts in what it finds out; the note is written when it is let go, which is when the
// answer is complete: a stream's when that ends. Threads: one at a time, as the request's Exchange or Call,
// which hold it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/span.h"
#include "base/threads.h"
#include "http/http_server.h"
#include "server/shared/request_stats.h"
#include "task/task.h"

namespace baton::server {

// Who wants to know of requests.
struct RequestWatch {
  base::SpanQueue* spans = nullptr;  // null: nobody
  bool log = false;

  explicit operator bool() const { return spans != nullptr || log; }
};

// The trace to which the request belongs, as base::read_traceparent returns it; empty: none. Of several
// headers none counts.
std::string trace_of(const http::Request& request);

class RequestNote {
 public:
  RequestNote(const RequestWatch& watch, const http::Request& head);
  ~RequestNote();
  RequestNote(const RequestNote&) = delete;
  RequestNote& operator=(const RequestNote&) = delete;

  void reached(std::string_view agent, Protocol protocol);
  void came_from(const task::Caller& caller) { caller_ = caller.value; }
  // `method`: a literal, such as "SendMessage".
  void calls(std::string_view method) { method_ = method; }
  void is_about(const task::Task& task);
  void is_about(const task::TaskId& task) { task_ = task.value; }
  void failed(const base::Error& error);
  // `status`: as RequestStats::note.
  void answered(int status, std::size_t bytes);
  void sent(std::size_t bytes) { bytes_ += bytes; }

  // The `traceparent` of what is done for the request, which came with this one (empty: none): the request's
  // own span, if it is sampled; else the client's as it is.
  std::string trace_for(const std::string& from_client);

 private:
  void decide();
  void add_span();
  void write_line() const;

  const RequestWatch watch_;
  const base::SteadyTime::time_point begin_ = base::SteadyTime::now();
  const std::string http_method_;
  const std::string path_;
  std::string client_trace_;  // from the header, or from where the protocol has it
  std::string trace_;         // the request's own; empty: not sampled, or not decided yet
  bool is_decided_ = false;
  std::string agent_, caller_, task_, context_;
  std::string_view method_, error_, state_;
  Protocol protocol_ = Protocol::other;
  int status_ = 0;
  std::size_t bytes_ = 0;
};

using RequestNotePtr = std::shared_ptr<RequestNote>;  // shared by the exchange, the call and the stream

// The same stream, whose bytes are noted until it ends. `note`: null: nothing is.
http::StreamOpener noted(http::StreamOpener opener, RequestNotePtr note);

}  // namespace baton::server
