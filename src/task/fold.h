// Builds a task from its log. Stores that keep only the log and holders of a log in memory both use it, so
// that they agree.
//
// Threads: pure; a Fold is for one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
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

// Returns the message that the event adds to the task's history: an added message, or the message of a status
// other than a progress note (submitted or working). Null if there is none.
const Message* message_in(const EventBody& body);

// Members: merges the members of several JSON objects. If a name is repeated, the last value counts.
class Members {
 public:
  // Adds the members of an object. Any other JSON value adds nothing.
  void add(const Json& object);
  Json take() &&;

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // as JSON, in order of first appearance
  std::unordered_map<std::string, std::size_t> places_;       // in members_
};

// Fold: takes the events of a log in order, from its beginning, and computes the resulting task. The events
// must be normalised as stores do it, so that each one marks whether its content starts over.
//
// The chunks of an artifact are merged: parts are concatenated, metadata are merged by name, extensions form
// a set, and the first name and description are kept. A client that followed the stream gets the same
// artifact.
class Fold {
 public:
  // `known`: the fields that the log does not contain (known_of).
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
  // What several chunks say about their artifact as a whole.
  struct Merged {
    Members metadata;  // used once two chunks have metadata
    bool has_metadata = false;
    std::unordered_set<std::string> extensions;
  };
  // An artifact that is being built from chunks.
  struct Growing {
    Artifact artifact;
    std::unique_ptr<Merged> merged;  // most artifacts need none
  };
  Growing& at(int ordinal, const ArtifactId& id, bool anew);
  static void merge(Growing& growing, const Artifact& from);

  const Depth depth_;
  const base::Timestamp created_;
  Task task_;
  EventPtr status_;
  std::vector<EventPtr> said_;        // the requested end of the history
  std::map<int, Growing> artifacts_;  // by ordinal; a withdrawn one is absent until it starts over
};

// Returns the task after `events`, which must be the beginning of its log.
Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created, Task known = {});
// Returns the fields that a task's log does not contain: ids, metadata, origin, hidden.
Task known_of(const TaskHead& head, Json metadata);

}  // namespace baton::task
