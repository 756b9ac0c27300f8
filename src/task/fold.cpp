#include "task/fold.h"

#include <algorithm>
#include <map>
#include <optional>

namespace baton::task {
namespace {

template <class Field>
void fill(Field& field, const Field& from) {
  if (field.empty()) field = from;
}

// Artifacts by ordinal. A withdrawn one is absent until it begins anew.
class Contents {
 public:
  void add(const TextDelta& piece) { append_piece(at(piece.ordinal, piece.reply, piece.first), piece); }
  void add(const ArtifactChunk& piece) {
    append_piece(at(piece.artifact.ordinal, piece.artifact.id, !piece.append), piece);
  }
  void add(const Withdrawn& event) {
    std::erase_if(artifacts_, [&](const auto& entry) {
      return std::ranges::find(event.artifacts, entry.second.id) != event.artifacts.end();
    });
  }
  template <class Other>
  void add(const Other&) {}

  std::vector<Artifact> take() {
    std::vector<Artifact> all;
    all.reserve(artifacts_.size());
    for (auto& [ordinal, artifact] : artifacts_) {
      if (!artifact.in_status) all.push_back(std::move(artifact));
    }
    return all;
  }
  // Includes a reply that A2A shows in the status.
  std::optional<Artifact> take(int ordinal) {
    const auto found = artifacts_.find(ordinal);
    return found == artifacts_.end() ? std::nullopt : std::optional(std::move(found->second));
  }

 private:
  Artifact& at(int ordinal, const ArtifactId& id, bool anew) {
    Artifact& artifact = artifacts_[ordinal];
    if (anew) artifact = {};
    artifact.id = id;
    artifact.ordinal = ordinal;
    return artifact;
  }

  std::map<int, Artifact> artifacts_;
};

}  // namespace

const Message* message_in(const EventBody& body) {
  if (const auto* added = std::get_if<MessageAdded>(&body)) return &added->message;
  const auto* changed = std::get_if<StatusChanged>(&body);
  if (changed == nullptr || !changed->status.message) return nullptr;
  const State state = changed->status.state;
  return state == State::submitted || state == State::working ? nullptr : &*changed->status.message;
}

void append_piece(Artifact& artifact, const TextDelta& piece) {
  fill(artifact.id, piece.reply);
  artifact.in_status = piece.in_status;
  if (artifact.parts.empty()) artifact.parts.push_back(Part::of_text({}));
  artifact.parts.back().content += piece.text;
}

void append_piece(Artifact& artifact, const ArtifactChunk& piece) {
  const Artifact& from = piece.artifact;
  fill(artifact.id, from.id);
  fill(artifact.name, from.name);
  fill(artifact.description, from.description);
  fill(artifact.metadata, from.metadata);
  fill(artifact.extensions, from.extensions);
  artifact.parts.insert(artifact.parts.end(), from.parts.begin(), from.parts.end());
}

std::optional<Artifact> fold_artifact(std::span<const EventPtr> events, int ordinal) {
  Contents contents;
  for (const EventPtr& event : events) {
    std::visit([&](const auto& body) { contents.add(body); }, event->body);
  }
  return contents.take(ordinal);
}

Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created) {
  Task task;
  task.status.at = created;
  const StatusChanged* status = nullptr;
  std::vector<const Message*> said;
  Contents contents;
  for (const EventPtr& event : events) {
    if (const StatusChanged* changed = status_in(*event)) status = changed;
    if (const Message* message = message_in(event->body)) said.push_back(message);
    if (depth.artifacts) std::visit([&](const auto& body) { contents.add(body); }, event->body);
  }
  if (status != nullptr) task.status = status->status;
  const auto wanted = depth.history ? static_cast<std::size_t>(std::max(*depth.history, 0)) : said.size();
  const std::size_t first = said.size() - std::min(wanted, said.size());
  task.history.reserve(said.size() - first);
  for (std::size_t i = first; i < said.size(); ++i) task.history.push_back(*said[i]);
  task.artifacts = contents.take();
  if (!events.empty()) task.last_event = events.back()->number;
  return task;
}

}  // namespace baton::task
