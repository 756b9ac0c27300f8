// PendingOutput: what an executor has produced and the store does not have yet.
//
// It gives replies, spans of reasoning and artifacts their ids, joins consecutive text, and keeps what is on
// its way to the store until it is known to be there. A value: its owner guards it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/settings.h"
#include "base/clock.h"
#include "engine/open_subagents.h"
#include "task/event.h"

namespace baton::engine {

class PendingOutput {
 public:
  // `prefix` begins the ids of what the turn makes: "<task>", and "<turn>" tells this turn's from others'.
  // `reply_as`: where A2A clients find the streamed reply.
  PendingOutput(std::string task, std::int64_t turn, std::size_t artifact_bytes_max,
                agents::AgentSettings::ReplyAs reply_as = agents::AgentSettings::ReplyAs::artifact);

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
  // About both, and what the message that ends the turn is going to repeat of the replies.
  std::size_t unstored_bytes() const { return bytes_ + bytes_on_their_way_ + replies_bytes_; }

  // Hands out what is waiting and remembers it as on its way.
  std::vector<task::EventBody> take();
  // What was on its way is stored.
  void stored() {
    on_its_way_.clear();
    bytes_on_their_way_ = 0;
  }
  // It is not: it waits again, before what came since.
  void put_back();
  // Neither will be stored. What was open before is open.
  void drop_all();

  // The whole of each reply so far, for the message that ends the turn; none where replies are artifacts
  // only.
  const std::vector<task::Part>& reply() const { return replies_whole_; }
  // Whether nothing but replies has been put out that A2A shows.
  bool is_reply_alone() const { return is_reply_alone_; }

  bool is_open(const std::string& subagent) const { return subagents_.is_open(subagent); }
  // All replies and artifacts so far.
  std::vector<task::ArtifactId> begun() const;

 private:
  std::optional<std::string> prepare_artifact(task::ArtifactChunk& chunk);
  std::string id(char kind, int number) const;
  void put(task::EventBody body);
  void close_stream();
  void mark(task::TextDelta& piece) const;
  void mark(task::ReasoningDelta&) const {}
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
  agents::AgentSettings::ReplyAs reply_as_;
  std::vector<task::Part> replies_whole_;
  std::size_t replies_bytes_ = 0;
  bool is_reply_alone_ = true;
  std::vector<task::EventBody> waiting_;
  std::vector<task::EventBody> on_its_way_;
  std::size_t bytes_ = 0;
  std::size_t bytes_on_their_way_ = 0;
  task::ArtifactId open_;  // the reply or span that is being streamed: at most one is
  bool thinks_ = false;    // it is a span
  int replies_ = 0;
  int spans_ = 0;
  int artifacts_ = 0;
  std::unordered_map<std::string, std::size_t> artifact_bytes_;
  OpenSubagents subagents_;
};

}  // namespace baton::engine
