// PendingOutput: an executor's output that is not stored yet.
//
// Assigns ids to replies, spans of reasoning and artifacts, joins consecutive text, and keeps events that are
// being stored until they are known to be stored. Not thread-safe: its owner guards it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/executor.h"
#include "agents/settings.h"
#include "base/clock.h"
#include "engine/decide/rules/unfinished_subagents.h"
#include "task/event.h"

namespace baton::engine {

class PendingOutput {
 public:
  // Assigned ids are "<task>-<kind><turn>.<number>". `reply_as`: where A2A clients find the streamed reply.
  PendingOutput(std::string task, std::int64_t turn, std::size_t artifact_bytes_max,
                agents::AgentSettings::ReplyAs reply_as = agents::AgentSettings::ReplyAs::artifact);

  // Sets the state that earlier turns or attempts left: the open subagents, and the replies to the turn's
  // message.
  void set_earlier(UnfinishedSubagents open, std::vector<agents::SaidReply> said);

  // Adds an event. An event with content of its own ends the open reply or span. If the event is refused,
  // returns why, for the agent's failure. Drops the end of a subagent that is not open, and a second
  // beginning.
  std::optional<std::string> add(task::EventBody body, base::Timestamp now);
  // Appends to the open reply, or begins one. Ends an open span of reasoning.
  void add_text(std::string delta);
  // Adds a piece of a reply with an id of its own. Ends the open reply of `add_text`, and an open span.
  void add_reply(agents::ReplyPiece piece);
  // Appends to the open span of reasoning, or begins one. Ends an open reply.
  void add_reasoning(std::string delta);
  // Ends the open replies, or the open span.
  void close_streams();
  // Ends the open replies or span, and the open subagents. Add nothing more before `take`: `put_back` drops
  // the last events that were taken.
  void close_all();

  bool empty() const { return waiting_.empty(); }
  // Whether all waiting events are pieces of replies, of reasoning or of artifacts.
  bool is_streamed() const { return is_streamed_; }
  // The approximate size of waiting events, without those being stored.
  std::size_t bytes() const { return bytes_; }
  // The approximate size of both, and of the replies that the message that ends the turn will repeat.
  std::size_t unstored_bytes() const { return bytes_ + bytes_on_their_way_ + replies_bytes_; }

  // Returns the waiting events, and keeps a copy until `stored`.
  std::vector<task::EventBody> take();
  // The events taken last are stored.
  void stored() {
    on_its_way_.clear();
    bytes_on_their_way_ = 0;
    closed_ = 0;
  }
  // The events taken last were not stored: they wait again, before newer ones, but for the ends of
  // `close_all`.
  void put_back();
  // Drops everything that is not stored. The open subagents are those of the stored events; no reply or span
  // is open.
  void drop_all();

  // The full text of each reply so far, for the message that ends the turn; empty if replies are artifacts
  // only.
  std::vector<task::Part> reply() const;
  // Returns true if replies are the only output so far that A2A shows.
  bool is_reply_alone() const { return is_reply_alone_; }

  std::string open_subagent(task::TaskKey child) const { return subagents_.open_id(child); }
  // The ids of all replies and artifacts so far.
  std::vector<task::ArtifactId> begun() const;

 private:
  std::optional<std::string> prepare_artifact(task::ArtifactChunk& chunk);
  std::string id(char kind, int number) const;
  void put(task::EventBody body);
  void add_to_whole(const task::ArtifactId& reply, const std::string& delta, bool anew);
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
  std::vector<std::string> replies_whole_;                     // in order; empty ones were withdrawn
  std::unordered_map<std::string, std::size_t> whole_places_;  // in these, by the reply's id
  std::size_t replies_bytes_ = 0;
  bool is_reply_alone_ = true;
  bool is_streamed_ = true;
  std::vector<task::EventBody> waiting_;
  std::vector<task::EventBody> on_its_way_;
  std::size_t bytes_ = 0;
  std::size_t bytes_on_their_way_ = 0;
  std::set<std::string> own_replies_;   // the ids of `add_reply` that the turn has begun
  std::set<std::string> open_replies_;  // and those that are open
  task::ArtifactId open_;               // the other reply or the span being streamed, if any
  bool thinks_ = false;                 // open_ is a span
  std::size_t tool_calls_ = 0;
  int replies_ = 0;
  int spans_ = 0;
  int artifacts_ = 0;
  std::unordered_map<std::string, std::size_t> artifact_bytes_;
  UnfinishedSubagents subagents_;
  UnfinishedSubagents open_before_;  // before `close_all`
  int closed_ = 0;                   // events of `close_all` at the end of `on_its_way_`
};

}  // namespace baton::engine
