// RunView: a run's log as the events of one chat protocol's stream.
//
// A view is given every event of one run in order, from the first, and appends the frames that show it. It
// has state, since most protocols need to know what is open. It must be deterministic: a client that comes
// back with the id of its last frame is shown the run again from the beginning, without the frames it has. So
// ids, times and texts come only from the events and the request.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace baton::protocol::chat {

// Frames of a stream in order. A frame is one SSE event: a name (empty: none) and its data. The data may have
// line ends, as JSON from others has between its values: the sender replaces them with spaces.
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
  const std::vector<Frame>& all() const { return frames_; }
  std::vector<Frame>& all() { return frames_; }
  bool empty() const { return frames_.empty(); }
  void clear() { frames_.clear(); }

 private:
  std::vector<Frame> frames_;
};

// What a view knows besides the events.
struct RunFacts {
  task::TaskId task;
  task::ContextId conversation;
  std::string run;             // the request's; empty if it has none and the protocol does not name runs
  std::string parent_run;      // the request's
  bool newer = false;          // as in RunRequest
  bool old_reasoning = false;  // AG-UI: clients that are not `newer` predate REASONING_*
  task::Json tools;            // offered by the client, or absent
  // The client's tool to ask with, if the client offered it (card: baton.confirm_tool); empty: never.
  std::string confirm_tool;
};

class RunView {
 public:
  virtual ~RunView() = default;

  // Appends the frames that show `event`. The run ends with the first status for which task::is_stopped
  // holds: everything open is closed and the last frames are appended. Later events are ignored.
  virtual void show(const task::Event& event, Frames& out) = 0;
};

// What a waiting task waits for, read from its status.
struct Question {
  std::string id;         // of the ask, or of the client's tool call
  bool for_tool = false;  // a client's tool is to be run; then the next three are empty
  bool for_auth = false;  // authorisation outside of the protocol
  std::string prompt;     // the message's texts
  task::Json schema;      // of the answer's payload, or absent
  std::string url;        // where to authorise, or empty
  task::Json details;     // a list of the message's other data, or absent
};
Question question_in(const task::StatusChanged& waiting);

// Why a run failed or was rejected; never empty.
std::string reason_of(const task::StatusChanged& end);

// The names in a list of {name} or {function:{name}}.
std::vector<std::string> tool_names(const task::Json& tools);

}  // namespace baton::protocol::chat
