// Builds a task from its log. Stores that keep only the log and holders of a log in memory both use it, so
// that they agree.
//
// Threads: pure; a Fold is for one thread.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "task/event.h"
#include "task/head.h"
#include "task/task.h"

namespace baton::task {

// The message that the event adds to the task's history: an added message, or that of a status other than a
// progress note (submitted or working). Null if there is none.
const Message* message_in(const EventBody& body);

// Fold: takes the events of a log from its beginning, in order, and gives the task after them. Each event
// marks where content begins anew, as stores normalise them.
class Fold {
 public:
  // `known`: what the log does not contain.
  Fold(const Depth& depth, base::Timestamp created, Task known = {})
      : depth_(depth), created_(created), task_(std::move(known)) {}

  void add(const EventPtr& event);
  Task take() &&;

 private:
  void add_content(const TextDelta& piece);
  void add_content(const ArtifactChunk& piece);
  void add_content(const Withdrawn& event);
  template <class Other>
  void add_content(const Other&) {}
  Artifact& at(int ordinal, const ArtifactId& id, bool anew);

  const Depth depth_;
  const base::Timestamp created_;
  Task task_;
  EventPtr status_;
  std::vector<EventPtr> said_;         // as much of the history as is wanted
  std::map<int, Artifact> artifacts_;  // by ordinal; a withdrawn one is absent until it begins anew
};

// The task after `events`, the beginning of its log.
Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created, Task known = {});
// What a task's log does not contain: ids, metadata, origin.
Task known_of(const TaskHead& head, Json metadata);

}  // namespace baton::task
