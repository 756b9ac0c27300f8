// RequestNote: the facts about a request for its span and its line in the access log. Notes exist only if
// spans or the access log are on.
//
// The code that handles the request adds facts. The destructor writes the note, when the answer is complete
// (for a stream, when it ends) and the last owner has released it. Threads: one at a time, like the request's
// Exchange or Call, which hold it.
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

// The destinations of notes.
struct RequestWatch {
  base::SpanQueue* spans = nullptr;  // null: no spans
  bool log = false;

  explicit operator bool() const { return spans != nullptr || log; }
};

// Returns the request's trace from its `traceparent` header, in the form of base::read_traceparent. Empty if
// there is none, or the header occurs more than once.
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

  // Returns the `traceparent` for work on behalf of the request: that of the request's own span if it is
  // sampled, else the client's, unchanged. The first call decides; a nonempty `from_client`, which the
  // protocol carried, then replaces the header's.
  std::string trace_for(const std::string& from_client);

 private:
  void decide();
  void add_span();
  void write_line() const;

  const RequestWatch watch_;
  const base::SteadyTime::time_point begin_ = base::SteadyTime::now();
  const std::string http_method_;
  const std::string path_;
  std::string client_trace_;  // from the header, or as carried by the protocol
  std::string trace_;         // the request's own; empty: not sampled, or not decided yet
  bool is_decided_ = false;
  std::string agent_, caller_, task_, context_;
  std::string_view method_, error_, state_;
  Protocol protocol_ = Protocol::other;
  int status_ = 0;
  std::size_t bytes_ = 0;
};

using RequestNotePtr = std::shared_ptr<RequestNote>;  // shared by the exchange, the call and the stream

// Wraps the opener so that the stream's bytes are counted in the note until it ends. Returns the opener
// unchanged if `note` is null.
http::StreamOpener noted(http::StreamOpener opener, RequestNotePtr note);

}  // namespace baton::server
