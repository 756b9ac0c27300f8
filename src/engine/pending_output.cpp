#include "engine/pending_output.h"

#include <iterator>
#include <utility>

#include "base/id.h"

namespace baton::engine {
namespace {

constexpr std::size_t kArtifactsMax = 10'000;  // of one turn

std::size_t bytes_of(const std::vector<task::Part>& parts) {
  std::size_t bytes = 0;
  for (const task::Part& part : parts) bytes += part.content.size() + part.metadata.text.size();
  return bytes;
}

// Notes about the work do not interrupt a reply that is being streamed; what has content does.
bool ends_reply(const task::EventBody& body) {
  return !std::holds_alternative<task::StatusChanged>(body) &&
         !std::holds_alternative<task::StateSnapshot>(body) &&
         !std::holds_alternative<task::StateDelta>(body) && !std::holds_alternative<task::Custom>(body);
}

// An executor says how it is getting on; how the turn ends is said by its outcome.
void make_note(task::StatusChanged& change, base::Timestamp now) {
  change.status.state = task::State::working;
  change.status.at = now;
  if (!change.status.message) return;
  change.status.message->role = task::Role::agent;
  if (change.status.message->id.empty()) change.status.message->id.value = base::make_uuid();
}

}  // namespace

PendingOutput::PendingOutput(std::string task, std::int64_t turn, std::size_t artifact_bytes_max)
    : task_(std::move(task)), turn_(turn), artifact_bytes_max_(artifact_bytes_max) {}

std::string PendingOutput::id(char kind, int number) const {
  return task_ + "-" + kind + std::to_string(turn_) + "." + std::to_string(number);
}

std::optional<std::string> PendingOutput::add(task::EventBody body, base::Timestamp now) {
  if (ends_reply(body)) close_reply();
  if (auto* chunk = std::get_if<task::ArtifactChunk>(&body)) {
    if (auto wrong = prepare_artifact(*chunk)) return wrong;
  }
  if (auto* change = std::get_if<task::StatusChanged>(&body)) make_note(*change, now);
  bytes_ += task::weight_of(body);
  waiting_.push_back(std::move(body));
  return std::nullopt;
}

std::optional<std::string> PendingOutput::prepare_artifact(task::ArtifactChunk& chunk) {
  if (chunk.artifact.id.empty()) chunk.artifact.id.value = id('a', ++artifacts_);
  if (artifact_bytes_.size() >= kArtifactsMax && !artifact_bytes_.contains(chunk.artifact.id.value)) {
    return "the agent made more than " + std::to_string(kArtifactsMax) + " artifacts";
  }
  std::size_t& total = artifact_bytes_[chunk.artifact.id.value];
  if (!chunk.append) total = 0;
  total += bytes_of(chunk.artifact.parts);
  if (total <= artifact_bytes_max_) return std::nullopt;
  return "the agent made an artifact of more than " + std::to_string(artifact_bytes_max_) + " bytes";
}

void PendingOutput::add_text(std::string delta) {
  const bool first = open_reply_.empty();
  if (first) open_reply_ = id('r', ++replies_);
  auto* last = waiting_.empty() ? nullptr : std::get_if<task::TextDelta>(&waiting_.back());
  if (!first && last && last->reply.value == open_reply_) {
    bytes_ += delta.size();
    last->text += delta;
    return;
  }
  waiting_.push_back(task::TextDelta{{open_reply_}, 0, std::move(delta), first, false});
  bytes_ += task::weight_of(waiting_.back());
}

void PendingOutput::close_reply() {
  if (open_reply_.empty()) return;
  auto* last = waiting_.empty() ? nullptr : std::get_if<task::TextDelta>(&waiting_.back());
  if (last && last->reply.value == open_reply_) {
    last->last = true;
  } else {
    waiting_.push_back(task::TextDelta{{open_reply_}, 0, {}, false, true});
    bytes_ += task::weight_of(waiting_.back());
  }
  open_reply_.clear();
}

std::vector<task::EventBody> PendingOutput::take() {
  on_its_way_ = waiting_;
  bytes_ = 0;
  return std::exchange(waiting_, {});
}

void PendingOutput::put_back() {
  for (const task::EventBody& body : on_its_way_) bytes_ += task::weight_of(body);
  on_its_way_.insert(on_its_way_.end(), std::make_move_iterator(waiting_.begin()),
                     std::make_move_iterator(waiting_.end()));
  waiting_ = std::exchange(on_its_way_, {});
}

void PendingOutput::drop_all() {
  waiting_.clear();
  on_its_way_.clear();
  open_reply_.clear();
  bytes_ = 0;
}

}  // namespace baton::engine
