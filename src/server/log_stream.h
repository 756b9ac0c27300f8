// LogStream: a task's log as the bytes of an event stream. It holds a position, not a queue: what it sends is
// read from the feed's memory, or from the store where the memory has a gap.
//
// Every event becomes one block with `id: <number>`; one that the view does not show becomes a block with the
// id alone, so that a gap can be told (DESIGN: stream numbers).
// Threads: as a StreamSource, on the server's loop. Reads of the store run on the readers pool.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server {

class LogStream final : public http::StreamSource {
 public:
  // Writes an event as the text of one data field, or answers false. `last`: the stream ends with it.
  using View = std::function<bool(const task::Event&, bool last, std::string& data)>;
  // Whether the stream is over at a status of this state, whatever follows in the log.
  using EndsAt = std::function<bool(task::State)>;

  struct Start {
    task::TaskKey task;
    task::EventNumber after;          // the last number the reader has
    std::string first_block;          // sent before anything else, without a number
    task::EventNumber shown_through;  // events up to here are in the first block: sent as numbers alone
    bool ended_there = false;         // the task had ended at `after`
    EndsAt ends_at;                   // none: over when the task has ended and its log goes no further
    View view;
  };

  LogStream(const Services& services, Start start, http::Waker waker);

  Next pull(std::string& out, std::size_t room) override;

 private:
  struct Shared;  // with the feed's callback and a read under way

  bool append_page(std::string& out, std::size_t room);
  void append_tail(const std::vector<engine::Feed::EventPtr>& events, std::string& out, std::size_t room);
  void append(const task::Event& event, std::string& out);
  bool fetch();

  const Services& services_;
  Start start_;
  task::EventNumber position_;
  bool over_ = false;   // the last event sent was the stream's last
  bool ended_ = false;  // the last event sent was the task's end
  std::string scratch_;
  std::vector<task::Event> page_;  // from the store; sent up to page_next_
  std::size_t page_next_ = 0;
  std::shared_ptr<Shared> shared_;
  engine::Feed::Subscription subscription_;
};

// Metadata is kept byte for byte and may hold line ends; in an event's one line they become spaces, which
// mean the same between the values of a JSON text.
void make_one_line(std::string& json);

}  // namespace baton::server
