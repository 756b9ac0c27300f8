// Facts that stores derive from a task's log, computed in one place so that all stores agree.
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
// Whether the event belongs to the task's history or stops it. Most events are output and not landmarks.
bool is_landmark(const task::EventBody& body);
// Whether the event adds to a conversation: it has a message, or is the first piece of a streamed reply.
bool speaks(const task::EventBody& body);

// Returns the places of a task's artifacts after its log.
task::ArtifactPlaces places_of(std::span<const task::EventPtr> log);

// Updates row.waiting from the head and from events that follow those already noted.
void note_waiting(TaskRow& row, std::span<const task::EventPtr> events);

// Conversation: collects the newest messages of a context. Add the events of each task from the newest to the
// oldest. Events that speak must be added in the order of time across tasks; for other events only the order
// within their task matters. It is full at `limit` messages or once they reach 4 MiB. See TaskStore::context
// for `task` and `unanswered`.
class Conversation {
 public:
  Conversation(task::TaskKey task, task::EventNumber unanswered, int limit);

  bool is_full() const;
  // Has no effect if it is full.
  void add(task::TaskKey key, const task::Event& event);
  std::vector<task::Message> oldest_first() &&;

 private:
  // Facts about a task from its later events.
  struct Later {
    std::map<task::ArtifactId, std::vector<std::string>> pieces;  // of replies, the last one first
    std::set<task::ArtifactId> replaced;                          // withdrawn or started over
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
