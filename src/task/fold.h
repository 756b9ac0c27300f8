// Fold: the task that its log tells of. Stores that keep only the log and whoever has a log in memory say the
// same by it.
//
// Threads: pure.
#pragma once

#include <optional>
#include <span>

#include "task/event.h"
#include "task/task.h"

namespace baton::task {

// The message that the event adds to the task's history: one that joined it, or that of a status other than a
// note on progress. Null: none.
const Message* message_in(const EventBody& body);

// Adds a piece to what an artifact holds. The first piece that says something about the artifact as a whole
// is right; the pieces of a reply are one text part.
void append_piece(Artifact& artifact, const TextDelta& piece);
void append_piece(Artifact& artifact, const ArtifactChunk& piece);

// The task as these events leave it, the first of its log up to any; each says by itself where content begins
// anew, as stores normalise it. What a log does not tell is left empty: ids, metadata, origin.
Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created);

// The artifact or streamed reply of this ordinal as these events leave it, if there is one.
std::optional<Artifact> fold_artifact(std::span<const EventPtr> events, int ordinal);

}  // namespace baton::task
