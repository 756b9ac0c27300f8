// LogStream: sends a task's log as a stream of server-sent events, or in another framing.
//
// Each event that the view shows becomes one block with `id: <number>`; an event it hides leaves a gap in the
// numbers. Every block has data: released parsers treat a block without data as an event and fail on it.
// Threads: as a StreamSource, on the server's loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/streams/log_reader.h"

namespace baton::server {

class LogStream final : public http::StreamSource, private LogReader::Taker {
 public:
  // Writes an event as an item of the stream, or returns false to hide it. `last`: the stream ends with it.
  // `from`: the first number not covered by an earlier event.
  using View = std::function<bool(const task::Event&, bool last, task::EventNumber from, std::string& item)>;
  // Appends an item and its separator from the next one. `id` 0: the item has no id. May change `item`.
  using Framing = std::function<void(std::string& out, std::int64_t id, std::string& item)>;
  // Whether a status of this state ends the stream, whatever follows in the log.
  using EndsAt = std::function<bool(task::State)>;

  struct Start {
    task::TaskKey task;
    task::EventNumber after;        // the last number the reader has
    std::string first_block;        // sent before anything else; may begin with an id
    bool numbered = true;           // blocks have an id
    AnswerBudget::SharePtr share;   // the first block's share of the budget of large answers
    std::vector<task::Event> page;  // the first events after `after`, if read already
    bool ended_there = false;       // the task had ended at `after`
    EndsAt ends_at;                 // empty: the stream ends at the end of an ended task's log
    View view;
    Framing framing = sse_block;
  };

  LogStream(const Services& services, Start start, http::Waker waker);

  // The framing of an event stream: the item is the data of one block.
  static void sse_block(std::string& out, std::int64_t id, std::string& item);

  // Returns the whole stream if it ends within the page, else nullopt.
  static std::optional<std::string> whole(const Start& start);

  Next pull(std::string& out, std::size_t room) override;
  bool has_ids() const override { return has_ids_; }
  std::size_t held() const override { return log_.held(); }
  bool has_share() const override { return start_.share != nullptr; }

 private:
  bool accept(const task::Event& event) override;

  Start start_;
  task::EventNumber shown_;  // the last number covered by a sent block
  bool has_ids_ = false;     // a sent block had an id
  bool over_ = false;        // the last event sent was the stream's last
  bool ended_ = false;       // the last event sent was the task's end
  LogReader log_;
  std::string scratch_;
  std::string* out_ = nullptr;  // during a pull
  std::size_t room_ = 0;
};

// Turns line ends into spaces, because an event's data is one line. Stored metadata is kept byte for byte and
// may have line ends; between JSON values a space means the same.
void make_one_line(std::string& json);

}  // namespace baton::server
