// RunView: a run's log as the events of one chat protocol's stream.
//
// A view is told every event of one run in order, from its first, and answers with the frames that show it;
// most protocols need to remember what is open, so it has state. It must be deterministic: who comes back
// with the id of the last frame it got is shown the run again from the beginning, and what it has already is
// left out. So ids, times and texts come from the events and the request alone.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "task/event.h"
#include "task/task.h"

namespace baton::wire::chat {

// Frames of a stream in order. A frame is one SSE event: a name (empty: none) and its data, whose line ends,
// as JSON that others wrote has them between its values, whoever sends it makes spaces.
class Frames {
 public:
  struct Frame {
    std::string event;
    std::string data;
  };
  // Where the data of a new frame is to be written: a wire::Writer's text.
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

// What a view is told beside the events.
struct RunFacts {
  task::TaskId task;
  task::ContextId conversation;
  std::string run;             // the request's; empty if it has none and the protocol does not name runs
  std::string parent_run;      // the request's
  bool newer = false;          // as in RunRequest
  bool old_reasoning = false;  // AG-UI: a client that is not `newer` is one from before REASONING_*
  task::Json tools;            // that the client offered, or absent
  // Ask by calling this tool of the client's, if it offered it (card: baton.confirm_tool); empty: never.
  std::string confirm_tool;
};

class RunView {
 public:
  virtual ~RunView() = default;

  // Appends what shows `event`. The run is over with the first status for which task::is_stopped holds:
  // every open thing is closed there, and the last frames are appended. Nothing comes after it.
  virtual void show(const task::Event& event, Frames& out) = 0;
};

// What a waiting task waits for, as its status says it.
struct Question {
  std::string id;         // of the ask, or of the client's tool call
  bool for_tool = false;  // a client's tool is to be run; then the next three are empty
  bool for_auth = false;  // authorisation outside of the protocol
  std::string prompt;     // the message's texts
  task::Json schema;      // of the payload that answers it, or absent
  std::string url;        // where to authorise, or empty
  task::Json details;     // a list of the message's other data, or absent
};
Question question_in(const task::StatusChanged& waiting);

// Why a run failed or was rejected, in words; never empty.
std::string reason_of(const task::StatusChanged& end);

// The names in a list of {name} or {function:{name}}.
std::vector<std::string> tool_names(const task::Json& tools);

}  // namespace baton::wire::chat
