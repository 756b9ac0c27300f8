// apply: computes the effect of a change on a task, or refuses the change. It holds the rules of a task's
// life: legal moves, a single end, the version, the fence, and the numbers of events and artifacts. Every
// store applies its changes with this function, so that all stores follow the same rules.
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

// The highest event number of a log.
inline constexpr EventNumber kLogEnd{(std::int64_t{1} << 28) - 1};
// The number of a new task's message, if its log begins with the status `submitted` and the message.
inline constexpr EventNumber kFirstMessage{2};

// The place of an artifact, or of a streamed reply, in its task.
struct ArtifactPlace {
  int ordinal = 0;
  bool withdrawn = false;
};
using ArtifactPlaces = std::unordered_map<ArtifactId, ArtifactPlace>;

struct Applied {
  TaskHead head;             // after the change; the store counts its bytes
  ArtifactPlaces artifacts;  // the places, after the change, of the artifacts that it touches
  EventNumber message;       // the last MessageAdded
  bool decides = false;      // the version was raised
  bool shows = false;        // a hidden task becomes visible
};

// Checks that the change is about one task, either an existing one or a new one with an id and a context.
// Fails with invalid_argument. Stores call it before they look up the task.
base::Result<void> check_subject(const Change& change);

// The head of a new task before its change is applied.
TaskHead new_head(const NewTask& task);

// Calls `see` with the id of each artifact that the change names. `apply` needs the places of those that the
// task already has.
void for_each_artifact_named(const Change& change, const std::function<void(const ArtifactId&)>& see);

// Fails with conflict (`expected` or `fence` does not hold, or the task has ended), invalid_argument (an
// illegal move, an incomplete change) and too_large (the log is full). On success the change's events are
// complete: ordinals, the time of a status without one, and `first` and `append` where content begins.
base::Result<Applied> apply(const TaskHead& before, Change& change, base::Timestamp now,
                            const ArtifactPlaces& artifacts);

}  // namespace baton::task
