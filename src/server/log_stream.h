// LogStream: a task's log as the bytes of an event stream.
//
// Every event that the view shows becomes one block with `id: <number>`; one that it does not show leaves a
// gap in the numbers. There is no block without data: released parsers take one for an event and fail on it.
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
  // Writes an event as the text of one data field, or answers false. `last`: the stream ends with it. `from`:
  // the first number that no event before it has covered.
  using View = std::function<bool(const task::Event&, bool last, task::EventNumber from, std::string& data)>;
  // Whether the stream is over at a status of this state, whatever follows in the log.
  using EndsAt = std::function<bool(task::State)>;

  struct Start {
    task::TaskKey task;
    task::EventNumber after;        // the last number the reader has
    std::string first_block;        // sent before anything else; may begin with an id
    bool numbered = true;           // blocks have an id
    AnswerBudget::SharePtr share;   // what the first block holds of the budget of large answers
    std::vector<task::Event> page;  // what comes next, where it has been read already
    bool ended_there = false;       // the task had ended at `after`
    EndsAt ends_at;                 // none: over when the task has ended and its log goes no further
    View view;
  };

  LogStream(const Services& services, Start start, http::Waker waker);

  // All of the stream, where its end is in the page.
  static std::optional<std::string> whole(const Start& start);

  Next pull(std::string& out, std::size_t room) override;
  bool has_ids() const override { return has_ids_; }
  std::size_t held() const override { return log_.held(); }

 private:
  bool take(const task::Event& event) override;

  Start start_;
  task::EventNumber shown_;  // the last number covered by what was sent
  bool has_ids_ = false;     // of what was sent
  bool over_ = false;        // the last event sent was the stream's last
  bool ended_ = false;       // the last event sent was the task's end
  LogReader log_;
  std::string scratch_;
  std::string* out_ = nullptr;  // while it is pulled
  std::size_t room_ = 0;
};

// Metadata is kept byte for byte and may hold line ends; in an event's one line they become spaces, which
// mean the same between the values of a JSON text.
void make_one_line(std::string& json);

}  // namespace baton::server
