// RunStream: one run of a task as the stream of a chat protocol.
//
// The run is shown to the view from its first event, because a view tracks what is open; frames the client
// has already are omitted. Ids: `<task>:<number>` on the last frame of an event, `<task>:<number>.<k>` on the
// k-th of the frames before it. An event without frames sends no block and leaves a gap in the numbers.
// Threads: as a StreamSource, on the server's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/chat/run_view.h"
#include "server/streams/log_reader.h"

namespace baton::server::chat {

// A position in a run: after an event, or after some of its frames.
struct RunPosition {
  task::EventNumber event;
  int frames = 0;  // already shown; 0: the whole event is
};

// A parsed SSE id.
struct SseId {
  task::TaskId task;
  RunPosition position;
};
std::optional<SseId> read_sse_id(std::string_view text);

// Appends a frame as one block; its data becomes one line. An empty id is omitted.
void append_frame(std::string& out, protocol::chat::Frames::Frame& frame, std::string_view id);

class RunStream final : public http::StreamSource, private LogReader::Taker {
 public:
  struct Start {
    task::TaskKey key;
    task::TaskId task;
    task::EventNumber before;          // the position its first event follows
    std::optional<RunPosition> shown;  // absent: nothing
    bool nothing_follows = false;      // no event follows `before`, and none will before the next request
    std::unique_ptr<protocol::chat::RunView> view;  // destroyed once the run is over
    std::function<void()> left;                     // called if the client leaves before the run is over
    bool has_ids = true;                            // the frames have ids
    std::int64_t skipped = 0;                       // frames, from the run's first, that the client has
    std::string_view last_words = {};               // the data of one more frame at the end; empty: none
    std::string id_begins = {};                     // in front of every id
  };

  RunStream(const Services& services, Start start, http::Waker waker);
  ~RunStream() override;

  Next pull(std::string& out, std::size_t room) override;
  bool has_ids() const override { return has_ids_; }
  std::size_t held() const override;
  std::size_t kept() const override { return kept_bytes_; }
  // Whether the run was read to its end. If the stream has ended otherwise, its log cannot be read now.
  bool is_over() const { return over_; }

 private:
  bool accept(const task::Event& event) override;
  // How many of the event's frames the client has; empty: all of them.
  std::optional<int> frames_shown(task::EventNumber event) const;
  bool send_frames();
  Next end(std::string& out);
  std::string id_of(task::EventNumber event, std::size_t frame) const;

  Start start_;
  const std::string id_prefix_;
  std::optional<LogReader> log_;
  protocol::chat::Frames frames_;  // of the last event; empty once they are sent
  std::size_t next_frame_ = 0;     // the first that is not sent
  std::size_t frames_bytes_ = 0;   // of those that are not sent
  std::size_t kept_bytes_ = 0;     // of the content that the view keeps
  task::EventNumber number_;       // the last event
  bool over_ = false;
  bool has_ids_ = false;        // a frame was sent
  std::string* out_ = nullptr;  // during a pull
  std::size_t room_ = 0;
  std::size_t unseen_ = 0;  // bytes of events that this pull has shown to the view alone
};

}  // namespace baton::server::chat
