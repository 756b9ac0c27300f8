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
  // Writes an event as the text of one data field, or answers false.
  using View = std::function<bool(const task::Event&, std::string& data)>;

  enum class Ends {
    when_stopped,  // at the first stop: a stream opened by a send
    when_ended,    // when the task has ended and its log goes no further: a subscription
  };

  struct Start {
    task::TaskKey task;
    task::EventNumber after;   // the last number the reader has
    std::string first_block;   // sent before anything else, without a number
    bool ended_there = false;  // the task had ended at `after`
    Ends ends = Ends::when_ended;
    View view;
  };

  LogStream(const Services& services, Start start, http::Waker waker);

  Next pull(std::string& out, std::size_t room) override;

 private:
  struct Shared;  // with the feed's callback and a read under way

  bool append_page(std::string& out, std::size_t room);
  void append_tail(const std::vector<engine::Feed::EventPtr>& events, std::string& out, std::size_t room);
  void append(const task::Event& event, std::string& out);
  bool has_ended() const;
  bool fetch();

  const Services& services_;
  Start start_;
  task::EventNumber position_;
  bool stopped_ = false;  // the last event sent was a stop
  bool ended_ = false;    // the last event sent was an end
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
