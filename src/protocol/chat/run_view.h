// RunView: a run's log as the events of one chat protocol's stream.
//
// A view gets every event of one run in order, from the first, and appends the frames that show it. It has
// state, because most protocols must close the items that they open. It must be deterministic: for a client
// that reconnects with the id of its last frame, the run is shown again from the beginning, without the
// frames that it already has. So ids, times and texts come only from the events and the request.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace baton::protocol::chat {

// Frames of a stream in order. A frame is one SSE event: a name (may be empty) and its data. The data may
// have line breaks between JSON values, if the JSON came from elsewhere; the sender replaces them with
// spaces.
class Frames {
 public:
  struct Frame {
    std::string event;
    std::string data;
  };
  // Adds a frame and returns its data, for a json::Writer; valid until the next frame is added.
  std::string& add(std::string_view event = {}) {
    frames_.push_back({std::string(event), {}});
    return frames_.back().data;
  }
  // The client has the next `count` frames already, and does not get them.
  void skip(std::int64_t count) { skipped_ = count; }
  // Whether to skip all frames from now on, because nobody needs them.
  void skip_all(bool skips) { skips_all_ = skips; }
  // Whether nobody needs the next frame. If so, this call stands for it: a view that asks does not add it. A
  // view need not ask.
  bool skips_next() {
    if (skips_all_) return true;
    if (skipped_ == 0) return false;
    --skipped_;
    return true;
  }
  // How many of the frames here, from the first, the client has.
  std::int64_t skip_added() {
    const std::int64_t count = std::min(skipped_, std::ssize(frames_));
    skipped_ -= count;
    return count;
  }
  // The HTTP status if the last frame is a whole answer.
  int status = 200;

  const std::vector<Frame>& all() const { return frames_; }
  std::vector<Frame>& all() { return frames_; }
  bool empty() const { return frames_.empty(); }
  // Keeps no memory to speak of.
  void clear() {
    constexpr std::size_t kKept = 16;
    frames_.capacity() > kKept ? std::vector<Frame>().swap(frames_) : frames_.clear();
  }

 private:
  std::vector<Frame> frames_;
  std::int64_t skipped_ = 0;  // of those to come
  bool skips_all_ = false;
};

// The facts that a view needs in addition to the events.
struct RunFacts {
  task::TaskId task;
  task::ContextId conversation;
  std::string run;             // the request's; empty if it has none and the protocol does not name runs
  std::string parent_run;      // the request's
  bool newer = false;          // as in RunRequest
  bool old_reasoning = false;  // AG-UI: clients that are not `newer` predate REASONING_*
  task::Json tools;            // offered by the client; absent without a confirm_tool
  task::Json messages;         // RunRequest::messages
  // The client's tool for questions (card: baton.confirm_tool); empty if the client did not offer it.
  std::string confirm_tool;
  task::EventNumber before;  // the log's position before the run
  bool streams = true;       // false: only the last frame is used, as the whole answer
  std::string model;         // the agent's name
  std::string files_url;     // the URL of the agent's tasks; empty if the protocol shows no links
  // The client follows the conversation and may have sent none of its messages: they are shown, too. `asked`
  // began the run.
  bool shows_user = false;
  std::vector<task::Message> asked = {};
};

class RunView {
 public:
  virtual ~RunView() = default;

  // Appends the frames that show `event`. The run ends with the first status that stops the task
  // (task::is_stopped): everything open is closed and the last frames are appended. Later events are ignored.
  virtual void show(const task::Event& event, Frames& out) = 0;
  // Whether the view keeps the output that it has shown, because a later frame repeats it.
  virtual bool keeps_output() const { return false; }
  // Appends the whole answer as it is while the run is active. Appends nothing if the protocol shows no
  // unfinished answer.
  virtual void show_now(std::string& /*out*/) const {}
};

// A question that a task waits on, read from its status.
struct Question {
  std::string id;         // of the ask, or of the client's tool call
  bool for_tool = false;  // the client must run a tool; then the next three are empty
  bool for_auth = false;  // authorisation outside of the protocol
  std::string prompt;     // the message's texts
  task::Json schema;      // of the answer's payload, or absent
  std::string url;        // the URL for authorisation, or empty
  task::Json details;     // a list of the message's other data, or absent
};
Question question_in(const task::StatusChanged& waiting);

// The reason why a run failed or was rejected; never empty.
std::string reason_of(const task::StatusChanged& end);

// The names in a list of {name} or {function:{name}}.
std::vector<std::string> tool_names(const task::Json& tools);

}  // namespace baton::protocol::chat
