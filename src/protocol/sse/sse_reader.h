// SseReader: parses a text/event-stream, fed in pieces of any size, into events (HTML living standard,
// section 9.2.6).
//
// An event that is unfinished when the stream ends is dropped, as the standard requires, unless the caller
// asks for it (`feed_end`). Threads: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace baton::protocol {

struct SseEvent {
  std::string type = "message";
  std::string data;
  bool numbered = false;  // the block had an `id` line of its own; it is then SseReader::last_id()
  bool is_bare = false;   // the data had no field
};

// Whether an event is no part of a protocol whose events are JSON objects: a ping, "[DONE]", or words under a
// name of their own, as frameworks and relays add them.
bool is_aside(const SseEvent& event);

// Whether the event has another name than the standard's `message` and `error`. If it is none of the
// protocol, it is to be passed over: a heartbeat, for example, may be an object with a time.
bool has_own_name(const SseEvent& event);

class SseReader {
 public:
  // Returns whether to continue reading.
  using OnEvent = std::function<bool(const SseEvent&)>;

  // Whether errors outside the standard's fields are events of the type `error`, or unknown. They stand in
  // the field `error` (llama.cpp until September 2025, which then ended the stream as if all was well), or
  // are JSON without a field, on one line or several (Gemini, relays). Such JSON begins after a line with a
  // field, and ends with its block; it need not be about an error (SseEvent::is_bare).
  enum class ErrorField { unknown, event };

  // `event_max`: bytes of one event, all its lines together.
  explicit SseReader(std::size_t event_max = std::size_t{64} << 20,
                     ErrorField error_field = ErrorField::unknown)
      : event_max_(event_max), error_field_(error_field) {}

  // Calls `on_event` for each block that `piece` completes and that has data other than white space: such
  // data is a keep-alive of relays. Bytes that are not UTF-8 become U+FFFD. Returns false once
  // `on_event` has; fails with too_large for an event over the bound. After either, further input is ignored.
  base::Result<bool> feed(std::string_view piece, const OnEvent& on_event);

  // Like `feed`, for the event that is unfinished at the end of a stream: some servers leave out the empty
  // line after the last one. Call it if the stream ended in order; the event may be cut off even so.
  bool feed_end(const OnEvent& on_event);

  // The bytes kept of an unfinished event.
  std::size_t unfinished() const { return block_bytes_; }
  // The id of the last finished block that had an id, with or without data; empty before the first.
  const std::string& last_id() const { return last_id_; }
  // The delay before a reconnect that the server asked for with `retry`.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  void take_line();
  bool is_bare(std::string_view line);
  void take_field(std::string_view name, std::string_view value);
  bool finish_block(const OnEvent& on_event);

  const std::size_t event_max_;
  const ErrorField error_field_;
  std::string line_;  // the beginning of an unfinished line
  std::size_t block_bytes_ = 0;
  SseEvent event_;
  bool has_data_ = false;
  std::string bare_;        // the block's lines without a field
  bool has_field_ = false;  // a line of the stream had one, or was a comment
  std::string id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  bool first_line_ = true;
  bool after_cr_ = false;
  bool stopped_ = false;
};

}  // namespace baton::protocol
