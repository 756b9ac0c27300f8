// Transcript: converts a task's log to the messages of its conversation.
//
// It has messages, replies, tool calls and results, and the text of artifacts. Tool use goes into data parts,
// as in run_request.h. Text that an agent replaced or that a withdrawn attempt had shown is left out. Ids are
// those of AG-UI's stream of the same log (protocol/agui/agui.cpp).
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "protocol/chat/names.h"
#include "task/event.h"

namespace baton::protocol::chat {

class Transcript {
 public:
  // left_out: the agent's calls and their results are not shown. Results that the client has sent are shown
  // as messages of the client.
  enum class Tools { shown, left_out };
  explicit Transcript(task::TaskId task, Tools tools = Tools::shown)
      : task_(std::move(task)), tools_(tools) {}

  // Adds an event. Takes every event of the task, in order.
  void add(const task::Event& event);

  struct Entry {
    base::Timestamp at;  // when it began
    task::Message message;
  };
  // Returns the messages up to now, oldest first, and empties the transcript.
  std::vector<Entry> take();
  // Returns the agent's messages up to now, oldest first, without the text that `next` replaces or withdraws.
  // For a client that can only replace its whole list of messages. Add `next` afterwards.
  std::vector<task::Message> without(const task::EventBody& next);

 private:
  struct Line {
    Entry entry;
    bool by_tool = false;  // a call or a result alone
    bool gone = false;
  };

  void add_one(const task::StatusChanged& event);
  void add_one(const task::MessageAdded& event);
  void add_one(const task::TextDelta& event);
  void add_one(const task::ArtifactChunk& event);
  void add_one(const task::ToolCall& event);
  void add_one(const task::ToolResult& event);
  void add_one(const task::Withdrawn& event);
  void add_one(const task::ReasoningDelta&) { parent_.reset(); }
  void add_one(const task::Activity& event);
  template <class Other>
  void add_one(const Other&) {}

  struct Piece {
    std::string source, wanted, text;
    bool first = false, last = false;
  };
  void add_text(const Piece& piece);
  void add_whole(const task::Message& message);
  void forget(const std::string& source);
  Line& append(task::Message message);
  void end_run();

  const task::TaskId task_;
  const Tools tools_;
  std::vector<Line> lines_;
  std::unordered_multimap<std::string, std::size_t> shown_;  // lines with text, by the reply or artifact
  base::Timestamp at_{};
  task::EventNumber number_;  // of the event being added

  // State of the current run.
  Names names_;
  std::size_t run_begins_ = 0;                          // in lines_
  std::unordered_map<std::string, std::size_t> open_;   // lines that may still grow, by source
  std::optional<std::size_t> parent_;                   // the line that takes the next call
  std::unordered_map<std::string, std::string> calls_;  // the log's call id to the client's
  std::unordered_set<std::string> answered_;            // calls, by the log's id
  std::unordered_set<std::string> client_calls_;
};

}  // namespace baton::protocol::chat
