// LogStream: a task's log as the bytes of an event stream.
//
// Every event becomes one block with `id: <number>`; one that the view does not show becomes a block with the
// id alone, so that a gap can be told (DESIGN: stream numbers).
// Threads: as a StreamSource, on the server's loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/log_reader.h"

namespace baton::server {

class LogStream final : public http::StreamSource, private LogReader::Taker {
 public:
  // Writes an event as the text of one data field, or answers false. `last`: the stream ends with it.
  using View = std::function<bool(const task::Event&, bool last, std::string& data)>;
  // Whether the stream is over at a status of this state, whatever follows in the log.
  using EndsAt = std::function<bool(task::State)>;

  struct Start {
    task::TaskKey task;
    task::EventNumber after;        // the last number the reader has
    std::string first_block;        // sent before anything else; may have numbers up to `after`
    std::vector<task::Event> page;  // what comes next, where it has been read already
    bool ended_there = false;       // the task had ended at `after`
    EndsAt ends_at;                 // none: over when the task has ended and its log goes no further
    View view;
  };

  LogStream(const Services& services, Start start, http::Waker waker);

  // All of the stream, where its end is in the page.
  static std::optional<std::string> whole(const Start& start);

  Next pull(std::string& out, std::size_t room) override;

 private:
  bool take(const task::Event& event) override;

  Start start_;
  bool over_ = false;   // the last event sent was the stream's last
  bool ended_ = false;  // the last event sent was the task's end
  LogReader log_;
  std::string scratch_;
  std::string* out_ = nullptr;  // while it is pulled
  std::size_t room_ = 0;
};

// Metadata is kept byte for byte and may hold line ends; in an event's one line they become spaces, which
// mean the same between the values of a JSON text.
void make_one_line(std::string& json);

}  // namespace baton::server
