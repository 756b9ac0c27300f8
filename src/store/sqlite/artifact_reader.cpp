#include "store/sqlite/artifact_reader.h"

#include <algorithm>
#include <utility>

#include "store/sqlite/event_rows.h"
#include "store/sqlite/index_rows.h"
#include "task/apply.h"
#include "task/fold.h"

namespace baton::store::sqlite {
namespace {

// Where the content of an artifact begins as of an event; 0 if it had none then or was withdrawn.
task::EventNumber begin_of(Connection& connection, task::TaskKey key, int ordinal, task::EventNumber as_of) {
  Query query = connection.query(
      "SELECT number, mark FROM artifact_parts WHERE task_key = ? AND ordinal = ? AND number <= ? AND mark > "
      "0 "
      "ORDER BY number DESC LIMIT 1",
      key, ordinal, as_of);
  if (!query.step() || query.small(1) == static_cast<int>(task::EventEffect::Mark::withdrawn)) return {};
  return {query.integer(0)};
}

// One artifact from its event `begin` on, up to `as_of`.
base::Result<task::Artifact> read_artifact(Connection& connection, task::TaskKey key, int ordinal,
                                           task::EventNumber begin, task::EventNumber as_of) {
  task::Artifact artifact;
  artifact.ordinal = ordinal;
  Query query = connection.query(
      "SELECT e.event_key, e.kind, e.at_ms, e.body FROM artifact_parts p "
      "JOIN events e ON e.event_key = (p.task_key << 28) + p.number "
      "WHERE p.task_key = ? AND p.ordinal = ? AND p.number BETWEEN ? AND ? ORDER BY p.number",
      key, ordinal, begin, as_of);
  while (query.step()) {
    auto event = event_at(query, 0);
    if (!event) return base::fail(event.error());
    if (const auto* text = std::get_if<task::TextDelta>(&event->body)) task::append_piece(artifact, *text);
    if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event->body))
      task::append_piece(artifact, *chunk);
  }
  return artifact;
}

}  // namespace

base::Result<std::optional<task::Artifact>> read_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                   int ordinal, task::EventNumber begin) {
  if (begin_of(connection, key, ordinal, task::kLogEnd) != begin) return std::nullopt;
  auto artifact = read_artifact(connection, key, ordinal, begin, task::kLogEnd);
  if (!artifact) return base::fail(artifact.error());
  return std::optional(std::move(*artifact));
}

base::Result<std::optional<task::Artifact>> short_artifact_if_begun(Connection& connection, task::TaskKey key,
                                                                    int ordinal, task::EventNumber begin) {
  const auto log = read_short_log(connection, key, task::kLogEnd);
  if (!log) return base::fail(log.error());
  if (begin_in(*log, ordinal) != begin) return std::nullopt;
  return task::fold_artifact(*log, ordinal);
}

base::Result<std::vector<task::Artifact>> read_artifacts(Connection& connection, task::TaskKey key,
                                                         task::EventNumber as_of) {
  std::vector<task::Artifact> artifacts;
  Query query = connection.query("SELECT ordinal FROM artifacts WHERE task_key = ? ORDER BY ordinal", key);
  while (query.step()) {
    const int ordinal = query.small(0);
    const task::EventNumber begin = begin_of(connection, key, ordinal, as_of);
    if (!begin) continue;
    auto artifact = read_artifact(connection, key, ordinal, begin, as_of);
    if (!artifact) return base::fail(artifact.error());
    if (!artifact->in_status) artifacts.push_back(std::move(*artifact));
  }
  return artifacts;
}

}  // namespace baton::store::sqlite
