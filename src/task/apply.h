// apply: what a change does to a task, or why it may not. These are the rules of a task's life: legal moves,
// one end, the version, the fence, the numbers of events and artifacts. Every store applies its changes with
// this function, so that no two stores differ in them.
//
// Threads: pure. No I/O, no clock, no lock.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "task/change.h"
#include "task/event.h"
#include "task/head.h"

namespace baton::task {

// The last event that a log can have.
inline constexpr EventNumber kLogEnd{(std::int64_t{1} << 28) - 1};

// Where an artifact stands in its task. A streamed reply is one too.
struct ArtifactPlace {
  int ordinal = 0;
  bool withdrawn = false;
};
using ArtifactPlaces = std::unordered_map<ArtifactId, ArtifactPlace>;

// What one event does, for stores that keep indexes of a log.
struct EventEffect {
  // Stored as these numbers.
  enum class Mark { more = 0, begins = 1, withdrawn = 2 };
  struct ArtifactMark {
    int ordinal;
    Mark mark;
  };
  std::vector<ArtifactMark> marks;
  std::optional<Role> said;         // a message for the history and the conversation
  std::optional<int> reply_begins;  // a streamed reply of this ordinal begins here
  bool stops = false;               // a status with which the task stops
};

struct Applied {
  TaskHead head;  // after the change; the store counts its bytes
  std::vector<EventEffect> effects;
  ArtifactPlaces artifacts;               // after the change, those it touches
  std::vector<ArtifactId> new_artifacts;  // in the order of their ordinals
  EventNumber message;                    // the last MessageAdded
  bool decides = false;                   // the version was raised
  bool shows = false;                     // a hidden task is hidden no more
};

// Whether the change says what it is about: one task that is there, or one to be made. invalid_argument if
// not. For stores, before they look the task up.
base::Result<void> check_subject(const Change& change);

// The head of a task that is about to be made, before its change is applied.
TaskHead new_head(const NewTask& task);

// Calls `see` with the id of each artifact that the change names. apply must be given those of them that the
// task has.
void for_each_artifact_named(const Change& change, const std::function<void(const ArtifactId&)>& see);

// Fails with conflict (`expected` or `fence` does not hold, or the task has ended), invalid_argument (an
// illegal move, an incomplete change) and too_large (the log is full). On success the change's events are
// complete: ordinals, the time of a status that has none, and `first` and `append` where content begins.
base::Result<Applied> apply(const TaskHead& before, Change& change, base::Timestamp now,
                            const ArtifactPlaces& artifacts);

}  // namespace baton::task
