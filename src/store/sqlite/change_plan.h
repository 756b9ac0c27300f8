// ChangePlan: what a change does to a task, decided before anything is written. The rules are all here; no
// SQL is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite/head_rows.h"
#include "store/task_store.h"

namespace baton::store::sqlite {

// What an event is to an artifact; the column artifact_parts.mark.
enum class Mark { more = 0, begins = 1, withdrawn = 2 };

struct KnownArtifact {
  int ordinal = 0;
  bool withdrawn = false;
};
using KnownArtifacts = std::unordered_map<task::ArtifactId, KnownArtifact>;
// Looks an artifact of the task up; may throw SQLite::Exception.
using FindArtifact = std::function<std::optional<KnownArtifact>(const task::ArtifactId&)>;

// What one event leaves in the index tables.
struct EventPlan {
  struct ArtifactMark {
    int ordinal;
    Mark mark;
  };
  std::vector<ArtifactMark> marks;
  std::optional<task::Role> said;   // a message for the history and the conversation
  std::optional<int> reply_begins;  // a streamed reply of this ordinal begins here
  bool stops = false;               // a status with which the task stops
};

struct ChangePlan {
  HeadRow row;  // after the change
  std::vector<EventPlan> events;
  KnownArtifacts artifacts;                     // as they are after the change, those it touches
  std::vector<task::ArtifactId> new_artifacts;  // in the order of their ordinals
  task::EventNumber message;                    // the last MessageAdded
  bool decides = false;                         // the version was raised
};

// Refuses what may not be done to a task in this state. Completes the events where that is the store's
// business: ordinals, the time of a status that has none, `first` and `append` where content begins.
base::Result<ChangePlan> plan_change(const HeadRow& before, Change& change, base::Timestamp now,
                                     const FindArtifact& find_artifact);

}  // namespace baton::store::sqlite
