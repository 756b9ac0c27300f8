// Reads what a remote agent answers, over HTTP: results, errors, streams. For calls that block
// (RemoteEndpoint) and those on an event loop (RemoteCall).
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/error.h"
#include "base/secret_mask.h"
#include "client/endpoint.h"
#include "outbound/http_client.h"
#include "protocol/a2a/client/client_dialect.h"
#include "protocol/sse/sse_reader.h"

namespace baton::client {

// The progress of a call.
struct Progress {
  bool sent = false;  // the connection was established
  std::chrono::milliseconds held{0};

  void follow(outbound::HttpRequest& request) {
    request.on_connected = [this] { sent = true; };
    request.on_held = [this](std::chrono::milliseconds time) { held = time; };
  }
};

// The errors of calls without an answer.
CallError from_net(const base::Error& error, const Progress& progress);
CallError without_token(const outbound::TokenError& error);

// Returns the error in an answer that is not a result: the protocol's error, or else the HTTP status.
// `dialect` is null if the answer does not follow a protocol. `body`: that of the answer, or what was
// streamed of it.
CallError from_answer(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& from,
                      std::string_view body);
// Adds the information in the status and headers of an HTTP response.
void add_headers(const outbound::HttpAnswer& answer, CallError& error);
// Like `from_answer`, with the information in the status and headers of an HTTP response.
CallError from_http(const protocol::a2a::ClientDialect* dialect, const outbound::HttpAnswer& answer,
                    std::string_view body);

// Returns the result of a complete answer. Reuses the memory of the body for the result's text. Call
// `may_decode` first.
tl::expected<task::Json, CallError> result_in(const protocol::a2a::ClientDialect& dialect,
                                              outbound::HttpAnswer& answer);

// Null: no secrets are hidden.
std::shared_ptr<const base::SecretMask> mask_of(const Access& access);
std::string shown_text(const Access& access, std::string_view text);

// The request of a call, without its limits of time. `token` and `trace`: empty if there is none.
outbound::HttpRequest basic_request(std::string url, const Access& access, const std::string& token,
                                    const std::string& trace, std::string_view version);
outbound::HttpRequest http_request_of(const Remote& remote, const protocol::a2a::ClientRequest& request,
                                      const std::string& token, const std::string& trace);
outbound::HttpRequest http_request_of(const Remote& remote, const StreamRequest& request,
                                      const std::string& token, const std::string& trace);
std::pair<std::string, std::string> token_header(const Access& access, const std::string& token);

// Reads the bytes of one connection of a stream: first `feed`, then `deliver` for each event that it found.
class StreamReading {
 public:
  struct Event {
    protocol::SseEvent event;
    std::int64_t number = 0;
  };

  // `is_bounded`: an intake limits all bytes that are kept.
  StreamReading(protocol::a2a::ClientDialectPtr dialect, bool is_bounded, OnStreamEvent on_event);

  // Appends the events that the piece completes. Returns false once the stream is to end.
  bool feed(std::string_view piece, std::vector<Event>& events);
  // Call it when the stream has ended. If it ended in order, but without the empty line after the last event,
  // which some servers leave out, appends that event, unless it is cut off or long.
  void feed_end(const base::Result<outbound::HttpAnswer>& answer, std::vector<Event>& events);
  // Gives an event to `on_event`. Call `may_decode` first. Returns false once the stream is to end.
  bool deliver(const Event& event);
  // The stream ends with this error.
  bool refuse(CallError error);

  // The answer, if it is JSON instead of a stream: a whole task or message, which counts as one event, or an
  // error. `deliver_whole` gives it to `on_event`, after `may_decode`; it returns whether it did.
  const std::string* whole(const base::Result<outbound::HttpAnswer>& answer) const;
  bool deliver_whole();

  // The bytes that are kept.
  std::size_t held() const { return reader_.unfinished() + plain_.size(); }
  StreamEnd end(const base::Result<outbound::HttpAnswer>& answer, const Progress& progress) const;

 private:
  bool is_unknown(const protocol::SseEvent& event) const;
  std::optional<std::string_view> result_of(const Event& event);

  const protocol::a2a::ClientDialectPtr dialect_;
  const OnStreamEvent on_event_;
  protocol::SseReader reader_;
  std::string plain_;  // of an answer that may turn out to be no stream
  bool opened_ = false;
  bool seen_ = false;                 // there was an event
  bool whole_ = false;                // `plain_` was a result
  std::optional<std::int64_t> last_;  // the number of the last event before one that was dropped
  std::optional<CallError> error_;
};

}  // namespace baton::client
