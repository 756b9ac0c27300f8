#include "task/fold.h"

#include <algorithm>
#include <utility>

namespace baton::task {
namespace {

template <class Field>
void fill(Field& field, const Field& from) {
  if (field.empty()) field = from;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Reads JSON that is known to be valid.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(char c) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Reads the rest of a string whose opening quotation mark was just taken. Returns it with both quotation
  // marks.
  std::string_view string() {
    const std::size_t begin = at_ - 1;
    skip_string();
    return text_.substr(begin, at_ - begin);
  }
  std::string_view value() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) break;
      if (c == '"') {
        ++at_;
        skip_string();
        --at_;
      }
      if (closes) --depth;
      if (c == '{' || c == '[') ++depth;
    }
    std::size_t end = at_;
    while (end > begin && is_space(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }

 private:
  // Moves past the end of a string whose opening quotation mark was taken.
  void skip_string() {
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void Members::add(const Json& object) {
  Scanner in(object.text);
  if (!in.take('{')) return;
  while (in.take('"')) {
    std::string name(in.string());
    if (!in.take(':')) return;
    std::string value(in.value());
    const auto [place, is_new] = places_.try_emplace(name, members_.size());
    if (is_new) {
      members_.emplace_back(std::move(name), std::move(value));
    } else {
      members_[place->second].second = std::move(value);
    }
    if (!in.take(',')) return;
  }
}

Json Members::take() && {
  Json object{"{"};
  for (const auto& [name, value] : members_) {
    if (object.text.size() > 1) object.text += ',';
    object.text.append(name).append(":").append(value);
  }
  object.text += '}';
  return object;
}

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

// All pieces of a reply form one text part.
void Fold::add_content(const TextDelta& piece) {
  if (is_withdrawal(piece)) return void(artifacts_.erase(piece.ordinal));
  Artifact& artifact = at(piece.ordinal, piece.reply, piece.first).artifact;
  artifact.in_status = piece.in_status;
  if (artifact.parts.empty()) artifact.parts.push_back(Part::of_text({}));
  artifact.parts.back().content += piece.text;
}

void Fold::add_content(const ArtifactChunk& piece) {
  const Artifact& from = piece.artifact;
  Growing& growing = at(from.ordinal, from.id, !piece.append);
  Artifact& artifact = growing.artifact;
  fill(artifact.name, from.name);
  fill(artifact.description, from.description);
  const bool is_first = growing.merged == nullptr && artifact.metadata.empty() && artifact.extensions.empty();
  if (is_first && from.extensions.size() <= 1) {
    artifact.metadata = from.metadata;
    artifact.extensions = from.extensions;
  } else if (!from.metadata.empty() || !from.extensions.empty()) {
    merge(growing, from);
  }
  artifact.parts.insert(artifact.parts.end(), from.parts.begin(), from.parts.end());
}

void Fold::merge(Growing& growing, const Artifact& from) {
  Artifact& artifact = growing.artifact;
  if (!growing.merged) {
    growing.merged = std::make_unique<Merged>();
    growing.merged->extensions.insert(artifact.extensions.begin(), artifact.extensions.end());
  }
  Merged& merged = *growing.merged;
  if (artifact.metadata.empty()) {
    artifact.metadata = from.metadata;
  } else if (!from.metadata.empty()) {
    if (!std::exchange(merged.has_metadata, true)) merged.metadata.add(artifact.metadata);
    merged.metadata.add(from.metadata);
  }
  for (const std::string& extension : from.extensions) {
    if (merged.extensions.insert(extension).second) artifact.extensions.push_back(extension);
  }
}

void Fold::add_content(const Withdrawn& event) {
  const std::unordered_set<ArtifactId> withdrawn(event.artifacts.begin(), event.artifacts.end());
  std::erase_if(artifacts_, [&](const auto& entry) { return withdrawn.contains(entry.second.artifact.id); });
}

Fold::Growing& Fold::at(int ordinal, const ArtifactId& id, bool anew) {
  Growing& growing = artifacts_[ordinal];
  if (anew) growing = {};
  growing.artifact.id = id;
  growing.artifact.ordinal = ordinal;
  return growing;
}

Task Fold::take() && {
  task_.status = status_ ? status_in(*status_)->status : Status{State::submitted, std::nullopt, created_};
  task_.history.reserve(said_.size());
  for (const EventPtr& event : said_) task_.history.push_back(*message_in(event->body));
  task_.artifacts.reserve(artifacts_.size());
  for (auto& [ordinal, growing] : artifacts_) {
    if (growing.artifact.in_status) continue;
    if (growing.merged && growing.merged->has_metadata)
      growing.artifact.metadata = std::move(growing.merged->metadata).take();
    task_.artifacts.push_back(std::move(growing.artifact));
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
