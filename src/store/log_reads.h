// What stores read off a task's log, so that they agree.
//
// Threads: pure; a Conversation is for one thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "store/task_store.h"
#include "task/apply.h"
#include "task/event.h"

namespace baton::store {

// Whether the event stops the task: ends it, or makes it wait for its caller.
bool is_stop(const task::EventBody& body);
// Whether the event belongs to the task's history or stops it. Most events are output, and are none.
bool is_landmark(const task::EventBody& body);
// Whether something said in a conversation is, or begins, with this event: a message or a streamed reply.
bool speaks(const task::EventBody& body);

// Where the artifacts of a task are after its log.
task::ArtifactPlaces places_of(std::span<const task::EventPtr> log);

// Brings row.waiting up to date with the head and with events that follow what is noted already.
void note_waiting(TaskRow& row, std::span<const task::EventPtr> events);

// Conversation: what was said in a context, read backwards: the events of each of its tasks from the newest
// on, and what speaks in the order of time across tasks. Events that do not speak matter to their task only.
// Returns as many of the newest messages as are wanted and fit into 4 MiB, at least one. See
// TaskStore::context for `task` and `unanswered`.
class Conversation {
 public:
  Conversation(task::TaskKey task, task::EventNumber unanswered, int limit);

  bool is_full() const;
  // Has no effect if it is full.
  void add(task::TaskKey key, const task::Event& event);
  std::vector<task::Message> oldest_first() &&;

 private:
  // What is known of a task from its later events.
  struct Later {
    std::map<task::ArtifactId, std::vector<std::string>> pieces;  // of replies, the last one first
    std::set<task::ArtifactId> replaced;                          // withdrawn or begun anew
  };
  void add_piece(Later& later, const task::TextDelta& piece);
  void say(task::Message&& message);

  const task::TaskKey task_;
  const task::EventNumber unanswered_;
  const std::size_t wanted_;
  std::map<task::TaskKey, Later> later_;
  std::vector<task::Message> said_;  // newest first
  std::size_t bytes_ = 0;
};

}  // namespace baton::store
