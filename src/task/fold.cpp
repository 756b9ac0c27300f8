#include "task/fold.h"

#include <algorithm>

namespace baton::task {
namespace {

template <class Field>
void fill(Field& field, const Field& from) {
  if (field.empty()) field = from;
}

}  // namespace

const Message* message_in(const EventBody& body) {
  if (const auto* added = std::get_if<MessageAdded>(&body)) return &added->message;
  const auto* changed = std::get_if<StatusChanged>(&body);
  if (changed == nullptr || !changed->status.message) return nullptr;
  const State state = changed->status.state;
  return state == State::submitted || state == State::working ? nullptr : &*changed->status.message;
}

void Fold::add(const EventPtr& event) {
  task_.last_event = event->number;
  if (status_in(*event) != nullptr) status_ = event;
  if (message_in(event->body) != nullptr) said_.push_back(event);
  if (depth_.history && std::ssize(said_) > std::max(*depth_.history, 0)) said_.erase(said_.begin());
  if (depth_.artifacts) std::visit([this](const auto& body) { add_content(body); }, event->body);
}

// The pieces of a reply form one text part.
void Fold::add_content(const TextDelta& piece) {
  Artifact& artifact = at(piece.ordinal, piece.reply, piece.first);
  artifact.in_status = piece.in_status;
  if (artifact.parts.empty()) artifact.parts.push_back(Part::of_text({}));
  artifact.parts.back().content += piece.text;
}

// Of what is said about the artifact as a whole, the first value that is not empty is kept.
void Fold::add_content(const ArtifactChunk& piece) {
  const Artifact& from = piece.artifact;
  Artifact& artifact = at(from.ordinal, from.id, !piece.append);
  fill(artifact.name, from.name);
  fill(artifact.description, from.description);
  fill(artifact.metadata, from.metadata);
  fill(artifact.extensions, from.extensions);
  artifact.parts.insert(artifact.parts.end(), from.parts.begin(), from.parts.end());
}

void Fold::add_content(const Withdrawn& event) {
  std::erase_if(artifacts_, [&](const auto& entry) {
    return std::ranges::find(event.artifacts, entry.second.id) != event.artifacts.end();
  });
}

Artifact& Fold::at(int ordinal, const ArtifactId& id, bool anew) {
  Artifact& artifact = artifacts_[ordinal];
  if (anew) artifact = {};
  artifact.id = id;
  artifact.ordinal = ordinal;
  return artifact;
}

Task Fold::take() && {
  task_.status = status_ ? status_in(*status_)->status : Status{State::submitted, std::nullopt, created_};
  task_.history.reserve(said_.size());
  for (const EventPtr& event : said_) task_.history.push_back(*message_in(event->body));
  task_.artifacts.reserve(artifacts_.size());
  for (auto& [ordinal, artifact] : artifacts_) {
    if (!artifact.in_status) task_.artifacts.push_back(std::move(artifact));
  }
  return std::move(task_);
}

Task fold(std::span<const EventPtr> events, const Depth& depth, base::Timestamp created, Task known) {
  Fold fold(depth, created, std::move(known));
  for (const EventPtr& event : events) fold.add(event);
  return std::move(fold).take();
}

Task known_of(const TaskHead& head, Json metadata) {
  Task task;
  task.id = head.id;
  task.context = head.context;
  task.metadata = std::move(metadata);
  task.origin = head.origin;
  task.hidden = head.hidden;
  return task;
}

}  // namespace baton::task
