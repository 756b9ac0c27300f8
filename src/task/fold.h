// Builds a task from its log. Stores that keep only the log and holders of a log in memory both use it, so
// that they agree.
//
// Threads: pure; a Fold is for one thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "task/event.h"
#include "task/head.h"
#include "task/task.h"

namespace baton::task {

// The message that the event adds to the task's history: an added message, or that of a status other than a
// progress note (submitted or working). Null if there is none.
const Message* message_in(const EventBody& body);

// Members: the members of several JSON objects; of members with one name the last value counts.
class Members {
 public:
  // Adds the members of an object. Anything else adds none.
  void add(const Json& object);
  Json take() &&;

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // as JSON, in order of their first coming
  std::unordered_map<std::string, std::size_t> places_;       // in members_
};

// Fold: takes the events of a log from its beginning, in order, and gives the task after them. Each event
// marks where content begins anew, as stores normalise them.
//
// The chunks of an artifact say together what it is: their parts follow each other, their metadata are merged
// by name, their extensions are a set, and the first name and description are kept. A client that has
// followed the stream has the same.
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
  // An artifact whose chunks come in.
  struct Growing {
    Artifact artifact;
    Members metadata;  // once there are those of two chunks
    bool is_merged = false;
    std::unordered_set<std::string> extensions;
  };
  Growing& at(int ordinal, const ArtifactId& id, bool anew);

  const Depth depth_;
  const base::Timestamp created_;
  Task task_;
  EventPtr status_;
  std::vector<EventPtr> said_;        // as much of the history as is wanted
  std::map<int, Growing> artifacts_;  // by ordinal; a withdrawn one is absent until it begins anew
};

// The task after `events`, the beginning of its log.
Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created, Task known = {});
// What a task's log does not contain: ids, metadata, origin.
Task known_of(const TaskHead& head, Json metadata);

}  // namespace baton::task
