#include "agents/remote/relay.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <utility>

#include "json/document.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {
namespace {

constexpr std::size_t kArtifactsMax = 10'000;

// A copy of the message without its ids, which have a meaning for the remote agent only.
std::optional<task::Message> own(const std::optional<task::Message>& message) {
  if (!message || message->parts.empty()) return std::nullopt;
  task::Message copy;
  copy.role = task::Role::agent;
  copy.parts = message->parts;
  copy.metadata = message->metadata;
  return copy;
}

std::string text_or(const std::optional<task::Message>& message, const char* otherwise) {
  const std::string text = message ? task::text_of(*message) : std::string();
  return text.empty() ? otherwise : text;
}

task::Message of_text(std::string text) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_text(std::move(text)));
  return message;
}

// Whether the artifact is what A2A makes of a streamed reply: nothing but text, without a name.
bool is_reply(const task::Artifact& artifact) {
  return artifact.name.empty() && artifact.description.empty() && artifact.metadata.empty() &&
         artifact.extensions.empty() && std::ranges::all_of(artifact.parts, [](const task::Part& part) {
           return part == task::Part::of_text(part.content);
         });
}

std::string joined(const std::vector<task::Part>& parts) {
  std::string text;
  for (const task::Part& part : parts) text += part.content;
  return text;
}

// In 0.1 artifacts have an index and no id.
std::string id_of(const task::Artifact& artifact) {
  return artifact.id.empty() ? "artifact-" + std::to_string(artifact.ordinal) : artifact.id.value;
}

task::Artifact named(task::Artifact artifact) {
  artifact.id.value = id_of(artifact);
  artifact.ordinal = 0;
  artifact.in_status = false;
  return artifact;
}

std::optional<Outcome> outcome_of(const task::Status& status) {
  switch (status.state) {
    case task::State::completed:
      return Done{own(status.message)};
    case task::State::failed:
      return Failed{text_or(status.message, "the remote agent failed")};
    case task::State::rejected:
      return Rejected{text_or(status.message, "the remote agent rejected the task")};
    case task::State::canceled:
      return Canceled{};
    case task::State::input_required:
    case task::State::auth_required:
      return Asked{{},
                   status.state == task::State::auth_required,
                   own(status.message).value_or(of_text("the remote agent waits for an answer"))};
    default:
      return std::nullopt;
  }
}

}  // namespace

void Relay::Mark::add(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  size += text.size();
}

bool Relay::Mark::begins(std::string_view text) const {
  if (text.size() < size) return false;
  Mark other;
  other.add(text.substr(0, size));
  return other == *this;
}

Relay::Mark Relay::mark_of(const task::Part& part) {
  Mark mark;
  const std::string kind = std::to_string(static_cast<int>(part.kind));
  for (const std::string_view text : std::initializer_list<std::string_view>{
           kind, part.content, part.filename, part.media_type, part.metadata.text}) {
    mark.add(text);
    mark.add(std::string_view("\0", 1));
  }
  return mark;
}

Relay::Relay(FunctionTurn& turn, const std::vector<task::Artifact>& earlier) : turn_(turn) {
  for (const task::Artifact& artifact : earlier) {
    if (is_reply(artifact)) {
      earlier_replies_.insert(joined(artifact.parts));
      continue;
    }
    Told& told = told_[id_of(artifact)];
    told.is_new = false;
    told.parts.clear();
    for (const task::Part& part : artifact.parts) told.parts.push_back(mark_of(part));
  }
}

void Relay::tell(protocol::a2a::Update& update) {
  if (outcome_) return;
  if (auto* task = std::get_if<task::Task>(&update)) return tell_task(*task);
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) {
    return tell_status(status->status, status->metadata);
  }
  if (auto* artifact = std::get_if<protocol::a2a::ArtifactUpdate>(&update)) {
    return tell_artifact(std::move(artifact->artifact), artifact->append, artifact->last_chunk);
  }
  outcome_ = Done{own(std::get<protocol::a2a::MessageReply>(update).message)};
}

void Relay::tell_task(task::Task& task) {
  for (task::Artifact& artifact : task.artifacts) {
    if (outcome_ || turn_.dropped()) return;
    tell_whole(std::move(artifact));
  }
  if (!outcome_) tell_status(task.status, {});
}

// The entry of an artifact, made if it is new. Only one reply is open at a time; a text that comes
// meanwhile is an artifact. Null if there are too many artifacts.
Relay::Told* Relay::place_of(const task::Artifact& piece) {
  const std::string id = id_of(piece);
  if (const auto known = told_.find(id); known != told_.end()) return &known->second;
  if (told_.size() >= kArtifactsMax) {
    outcome_ = Failed{"the remote agent makes more than " + std::to_string(kArtifactsMax) + " artifacts"};
    return nullptr;
  }
  Told& told = told_[id];
  told.is_reply = is_reply(piece) && open_replies_ == 0;
  set_open(told, told.is_reply);
  return &told;
}

void Relay::set_open(Told& told, bool is_open) {
  if (std::exchange(told.is_open_reply, is_open) == is_open) return;
  open_replies_ += is_open ? 1 : std::size_t(-1);
}

void Relay::tell_artifact(task::Artifact artifact, bool append, bool last_chunk) {
  task::Artifact piece = named(std::move(artifact));
  Told* const told = place_of(piece);
  if (told == nullptr) return;
  const bool is_new = std::exchange(told->is_new, false);
  if (told->is_reply && is_reply(piece)) {
    set_open(*told, !last_chunk);
    std::string text = joined(piece.parts);
    return append || is_new ? add_to_reply(*told, std::move(text)) : tell_reply(*told, std::move(text));
  }
  has_told_ = true;
  const bool goes_on = append && !is_new;
  if (!goes_on) told->parts.clear();
  for (const task::Part& part : piece.parts) told->parts.push_back(mark_of(part));
  turn_.emit(task::ArtifactChunk{std::move(piece), goes_on, last_chunk});
}

void Relay::add_to_reply(Told& told, std::string text) {
  has_told_ = true;
  told.text.add(text);
  turn_.text(std::move(text));
}

// `text`: the whole reply. Text that was passed on cannot be withdrawn, so a reply that begins differently
// follows it in full.
void Relay::tell_reply(Told& told, std::string text) {
  const bool goes_on = told.text.begins(text);
  if (goes_on) text.erase(0, told.text.size);
  if (!goes_on) told.text = {};
  add_to_reply(told, std::move(text));
}

// Passes on the new content of an artifact; `artifact` is its present state.
void Relay::tell_whole(task::Artifact artifact) {
  task::Artifact now = named(std::move(artifact));
  const bool is_known = told_.contains(id_of(now));
  if (!is_known && is_reply(now) && earlier_replies_.contains(joined(now.parts))) return;
  Told* const told = place_of(now);
  if (told == nullptr) return;
  if (told->is_reply && is_reply(now)) {
    told->is_new = false;
    return tell_reply(*told, joined(now.parts));
  }
  const std::vector<Mark>& before = told->parts;
  const bool begins_as_before =
      !told->is_new && now.parts.size() >= before.size() &&
      std::ranges::equal(before, now.parts | std::views::take(before.size()), {}, {}, mark_of);
  if (begins_as_before && now.parts.size() == before.size()) return;
  if (begins_as_before) now.parts.erase(now.parts.begin(), now.parts.begin() + std::ssize(before));
  tell_artifact(std::move(now), begins_as_before, false);
}

void Relay::tell_status(const task::Status& status, const task::Json& metadata) {
  outcome_ = outcome_of(status);
  if (outcome_ || status.state != task::State::working) return;
  auto note = own(status.message);
  const auto document = json::Document::view_of(metadata.text);
  const task::Json facts = protocol::without_extension(document.root());
  if (!note && facts.empty()) return;
  if (note && note_ == note) return;  // passed on before the connection was renewed
  note_ = note;
  turn_.emit(task::StatusChanged{{task::State::working, std::move(note), {}}, facts});
}

}  // namespace baton::agents
