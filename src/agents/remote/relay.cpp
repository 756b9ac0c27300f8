#include "agents/remote/relay.h"

#include <algorithm>
#include <utility>

#include "json/document.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {
namespace {

constexpr std::size_t kArtifactsMax = 10'000;

// The message as ours: its ids are of the remote agent's world.
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
task::Artifact named(task::Artifact artifact) {
  if (artifact.id.empty()) artifact.id.value = "artifact-" + std::to_string(artifact.ordinal);
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

Relay::Relay(FunctionTurn& turn, const std::vector<task::Artifact>& earlier) : turn_(turn) {
  for (const task::Artifact& artifact : earlier) {
    if (is_reply(artifact)) earlier_replies_.push_back(joined(artifact.parts));
    if (!is_reply(artifact)) told_.push_back(Told{named(artifact), false, false, false});
  }
}

void Relay::tell(const protocol::a2a::Update& update) {
  if (outcome_) return;
  if (const auto* task = std::get_if<task::Task>(&update)) return tell_task(*task);
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) {
    return tell_status(status->status, status->metadata);
  }
  if (const auto* artifact = std::get_if<protocol::a2a::ArtifactUpdate>(&update)) {
    return tell_artifact(artifact->artifact, artifact->append, artifact->last_chunk);
  }
  outcome_ = Done{own(std::get<protocol::a2a::MessageReply>(update).message)};
}

void Relay::tell_task(const task::Task& task) {
  for (const task::Artifact& artifact : task.artifacts) tell_whole(artifact);
  tell_status(task.status, {});
}

// One reply at a time: what else comes meanwhile is an artifact.
Relay::Told& Relay::place_of(const task::Artifact& piece) {
  const auto known = std::ranges::find(told_, piece.id, [](const Told& told) { return told.whole.id; });
  if (known != told_.end()) return *known;
  if (told_.size() >= kArtifactsMax) outcome_ = Failed{"the remote agent makes too many artifacts"};
  const bool begins_reply = is_reply(piece) && std::ranges::none_of(told_, &Told::is_open_reply);
  task::Artifact empty = piece;
  empty.parts.clear();
  return told_.emplace_back(Told{std::move(empty), begins_reply, begins_reply, true});
}

void Relay::tell_artifact(const task::Artifact& artifact, bool append, bool last_chunk) {
  task::Artifact piece = named(artifact);
  Told& told = place_of(piece);
  const bool is_new = std::exchange(told.is_new, false);
  if (told.is_reply && is_reply(piece)) {
    told.is_open_reply = !last_chunk;
    return tell_reply(told, append || is_new ? told.text + joined(piece.parts) : joined(piece.parts));
  }
  has_told_ = true;
  const bool goes_on = append && !is_new;
  if (!goes_on) told.whole.parts.clear();
  told.whole.parts.insert(told.whole.parts.end(), piece.parts.begin(), piece.parts.end());
  turn_.emit(task::ArtifactChunk{std::move(piece), goes_on, last_chunk});
}

// `text`: all of the reply. What was told cannot be taken back, so another text follows it whole.
void Relay::tell_reply(Told& told, const std::string& text) {
  has_told_ = true;
  const bool goes_on = text.starts_with(told.text);
  turn_.text(goes_on ? text.substr(told.text.size()) : text);
  told.text = text;
}

// An artifact as it is now.
void Relay::tell_whole(const task::Artifact& artifact) {
  task::Artifact now = named(artifact);
  const bool is_known =
      std::ranges::find(told_, now.id, [](const Told& one) { return one.whole.id; }) != told_.end();
  if (!is_known && is_reply(now)) {
    const auto earlier = std::ranges::find(earlier_replies_, joined(now.parts));
    if (earlier != earlier_replies_.end()) return;
  }
  Told& told = place_of(now);
  if (told.is_reply && is_reply(now)) {
    told.is_new = false;
    return tell_reply(told, joined(now.parts));
  }
  const std::vector<task::Part>& before = told.whole.parts;
  if (!told.is_new && before == now.parts) return;
  const bool goes_on = !told.is_new && now.parts.size() > before.size() &&
                       std::equal(before.begin(), before.end(), now.parts.begin());
  if (goes_on) now.parts.erase(now.parts.begin(), now.parts.begin() + std::ssize(before));
  tell_artifact(now, goes_on, false);
}

void Relay::tell_status(const task::Status& status, const task::Json& metadata) {
  outcome_ = outcome_of(status);
  if (outcome_ || status.state != task::State::working) return;
  auto note = own(status.message);
  const auto document = json::Document::view_of(metadata.text);
  const task::Json facts = protocol::without_extension(document.root());
  if (!note && facts.empty()) return;
  if (note && note_ == note) return;  // told before the connection began anew
  note_ = note;
  turn_.emit(task::StatusChanged{{task::State::working, std::move(note), {}}, facts});
}

}  // namespace baton::agents
