// PendingOutput: what an executor has produced and the store does not have yet.
//
// It gives replies, spans of reasoning and artifacts their ids, joins consecutive text, and keeps what is on
// its way to the store until it is known to be there. A value: its owner guards it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "engine/open_subagents.h"
#include "task/event.h"

namespace baton::engine {

class PendingOutput {
 public:
  // `prefix` begins the ids of what the turn makes: "<task>", and "<turn>" tells this turn's from others'.
  PendingOutput(std::string task, std::int64_t turn, std::size_t artifact_bytes_max);

  // Takes an event; what is being streamed ends if the event has content of its own. Answers what is wrong
  // with it instead, for the agent's failure: then it was not taken. The end of a subagent that is not open
  // is left out, and so is a second beginning.
  std::optional<std::string> add(task::EventBody body, base::Timestamp now);
  // A piece of the open reply, or the first of a new one. A span of reasoning ends.
  void add_text(std::string delta);
  // The same the other way round.
  void add_reasoning(std::string delta);
  // Nothing more comes of what is open: the reply or span, and the subagents.
  void close_all();

  bool empty() const { return waiting_.empty(); }
  // About what is waiting, and not what is on its way.
  std::size_t bytes() const { return bytes_; }

  // Hands out what is waiting and remembers it as on its way.
  std::vector<task::EventBody> take();
  // What was on its way is stored.
  void stored() { on_its_way_.clear(); }
  // It is not: it waits again, before what came since.
  void put_back();
  // Neither will be stored. What was open before is open.
  void drop_all();

  bool is_open(const std::string& subagent) const { return subagents_.is_open(subagent); }

 private:
  std::optional<std::string> prepare_artifact(task::ArtifactChunk& chunk);
  std::string id(char kind, int number) const;
  void put(task::EventBody body);
  void close_stream();
  // Delta is a TextDelta or a ReasoningDelta.
  template <class Delta>
  Delta* open_piece();
  template <class Delta>
  void append(std::string text, bool first);
  template <class Delta>
  void close();

  std::string task_;
  std::int64_t turn_;
  std::size_t artifact_bytes_max_;
  std::vector<task::EventBody> waiting_;
  std::vector<task::EventBody> on_its_way_;
  std::size_t bytes_ = 0;
  task::ArtifactId open_;  // the reply or span that is being streamed: at most one is
  bool thinks_ = false;    // it is a span
  int replies_ = 0;
  int spans_ = 0;
  int artifacts_ = 0;
  std::unordered_map<std::string, std::size_t> artifact_bytes_;
  OpenSubagents subagents_;
};

}  // namespace baton::engine
