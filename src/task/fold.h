// Fold: builds a task from its log. Stores that keep only the log and holders of a log in memory both use it,
// so that they agree.
//
// Threads: pure.
#pragma once

#include <optional>
#include <span>

#include "task/event.h"
#include "task/task.h"

namespace baton::task {

// The message that the event adds to the task's history: an added message, or that of a status other than a
// progress note (submitted or working). Null if there is none.
const Message* message_in(const EventBody& body);

// Adds a piece to an artifact. For fields about the artifact as a whole, the first value that is not empty is
// kept; the pieces of a reply form one text part.
void append_piece(Artifact& artifact, const TextDelta& piece);
void append_piece(Artifact& artifact, const ArtifactChunk& piece);

// The task after `events`, the beginning of its log. Each event marks where content begins anew, as stores
// normalise them. Fields that a log does not contain (ids, metadata, origin) stay empty.
Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created);

// The artifact or streamed reply with this ordinal after these events, if there is one.
std::optional<Artifact> fold_artifact(std::span<const EventPtr> events, int ordinal);

}  // namespace baton::task
