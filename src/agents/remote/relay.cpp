#include "agents/remote/relay.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {
namespace {

constexpr std::size_t kArtifactsMax = 10'000;
constexpr std::size_t kReasonMax = 64 << 10;  // bytes of the reason of a failure

// A copy of the message without its ids, which have a meaning for the remote agent only.
std::optional<task::Message> own(const std::optional<task::Message>& message) {
  if (!message || message->parts.empty()) return std::nullopt;
  task::Message copy;
  copy.role = task::Role::agent;
  copy.parts = message->parts;
  copy.metadata = message->metadata;
  return copy;
}

// Why the task there ended. It is no part of a result, so the beginning will do.
std::string text_or(const std::optional<task::Message>& message, const char* otherwise) {
  const std::string text = message ? task::text_of(*message) : std::string();
  return text.empty() ? otherwise : std::string(base::beginning_of(text, kReasonMax));
}

task::Message of_text(std::string text) {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_text(std::move(text)));
  return message;
}

bool is_bare_text(const task::Part& part) {
  return part == task::Part::of_text(part.content);
}

// Mastra gives each reply a name.
bool is_named_reply(const task::Artifact& artifact) {
  return artifact.name == "response.txt" && artifact.id.value.ends_with(":response:text");
}

// Whether the artifact is what A2A makes of a streamed reply: nothing but text, without a name.
bool is_reply(const task::Artifact& artifact) {
  return (artifact.name.empty() || is_named_reply(artifact)) && artifact.description.empty() &&
         artifact.metadata.empty() && artifact.extensions.empty() &&
         std::ranges::all_of(artifact.parts, is_bare_text);
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

TextMark mark_of(const task::Part& part) {
  TextMark mark;
  const std::string kind = std::to_string(static_cast<int>(part.kind));
  for (const std::string_view text : std::initializer_list<std::string_view>{
           kind, part.content, part.filename, part.media_type, part.metadata.text}) {
    mark.add(text);
    mark.add(std::string_view("\0", 1));
  }
  return mark;
}

TextMark mark_of_facts(const task::Artifact& artifact) {
  TextMark mark(artifact.metadata.text);
  for (const std::string& extension : artifact.extensions) {
    mark.add(std::string_view("\0", 1));
    mark.add(extension);
  }
  return mark;
}

// Moves the thoughts of a model out of the artifact's parts, and returns them joined. Agents of Google's ADK
// send them among their replies, marked by metadata.
std::string take_thoughts(task::Artifact& artifact) {
  std::string text;
  std::erase_if(artifact.parts, [&](const task::Part& part) {
    if (part.kind != task::Part::Kind::text || part.metadata.empty()) return false;
    if (!json::Document::view_of(part.metadata.text).root()["adk_thought"].boolean()) return false;
    text += part.content;
    return true;
  });
  return text;
}

// Moves the plain texts out of the artifact's parts, and returns them joined.
std::string take_text(task::Artifact& artifact) {
  std::string text;
  std::erase_if(artifact.parts, [&](const task::Part& part) {
    if (!is_bare_text(part)) return false;
    text += part.content;
    return true;
  });
  return text;
}

// Whether the message has thoughts of a model, as agents of Agno mark them.
bool is_thought(const task::Message& message) {
  if (message.metadata.empty()) return false;
  const auto document = json::Document::view_of(message.metadata.text);
  return document.root()["agno_content_category"].string() == "reasoning";
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
                   own(status.message).value_or(of_text("the remote agent is waiting for an answer"))};
    default:
      return std::nullopt;
  }
}

}  // namespace

Relay::Relay(TurnOutput& turn, const std::vector<task::Artifact>& earlier) : turn_(turn) {
  for (const task::Artifact& artifact : earlier) {
    if (is_reply(artifact)) {
      earlier_replies_.insert(joined(artifact.parts));
      continue;
    }
    Told& told = told_[id_of(artifact)];
    told.is_new = false;
    told.facts = mark_of_facts(artifact);
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
  tell_message(std::move(std::get<protocol::a2a::MessageReply>(update).message));
}

// Servers made with Agno, or with Microsoft's Agent Framework for .NET until August 2026, send each piece of
// an answer as a message, mostly with one id; some pieces are empty.
void Relay::tell_message(task::Message message) {
  has_messages_ = true;
  if (is_thought(message)) {
    has_told_ = true;
    return turn_.reasoning(task::text_of(message));
  }
  if (message.parts.empty()) return;
  if (!first_message_ && !is_in_pieces_) {
    first_message_ = std::move(message);
    return;
  }
  tell_first_message();
  tell_piece(std::move(message));
}

void Relay::tell_first_message() {
  if (!first_message_) return;
  is_in_pieces_ = true;
  tell_piece(*std::exchange(first_message_, std::nullopt));
}

void Relay::tell_piece(task::Message message) {
  task::Artifact piece;
  piece.id.value = "message " + message.id.value;
  piece.parts = std::move(message.parts);
  tell_artifact(std::move(piece), true, false);
}

void Relay::end_messages() {
  if (!outcome_ && has_messages_) outcome_ = Done{own(std::exchange(first_message_, std::nullopt))};
}

void Relay::tell_task(task::Task& task) {
  for (task::Artifact& artifact : task.artifacts) {
    if (outcome_ || turn_.is_closed()) return;
    tell_whole(std::move(artifact));
  }
  if (outcome_) return;
  // Some servers have their words in the history only, such as Agno's.
  const bool may_have_words =
      task.status.state == task::State::completed || task::is_waiting(task.status.state);
  const bool has_words = task.status.message || has_told_ || has_messages_ || note_;
  if (may_have_words && !has_words && !task.history.empty() && task.history.back().role == task::Role::agent)
    task.status.message = std::move(task.history.back());
  tell_status(task.status, {});
}

// The entry of an artifact, made if it is new. Null if there are too many artifacts.
Relay::Told* Relay::place_of(const task::Artifact& piece) {
  const std::string& id = piece.id.value;
  if (const auto known = told_.find(id); known != told_.end()) return &known->second;
  if (told_.size() >= kArtifactsMax) {
    outcome_ = Failed{"the remote agent created more than " + std::to_string(kArtifactsMax) + " artifacts"};
    return nullptr;
  }
  Told& told = told_[id];
  told.is_reply = is_reply(piece);
  return &told;
}

void Relay::tell_artifact(task::Artifact artifact, bool append, bool last_chunk) {
  task::Artifact piece = named(std::move(artifact));
  std::string thoughts = take_thoughts(piece);
  const bool is_thought = !thoughts.empty() && piece.parts.empty();
  Told* const told = place_of(piece);
  if (told == nullptr) return;
  tell_thoughts(*told, std::move(thoughts), append);
  if (is_thought) return;
  if (!told->is_reply) return tell_chunk(*told, std::move(piece), append, last_chunk);
  tell_reply(piece.id.value, *told, take_text(piece), append, last_chunk);
  if (!piece.parts.empty()) tell_chunk(*told, std::move(piece), append, last_chunk);
}

// Passes on parts of an artifact; of a reply, those that are no text.
void Relay::tell_chunk(Told& told, task::Artifact piece, bool append, bool last_chunk) {
  has_told_ = true;
  const bool goes_on = append && (told.is_reply ? !told.parts.empty() : !told.is_new);
  if (!goes_on) told.parts.clear();
  for (const task::Part& part : piece.parts) told.parts.push_back(mark_of(part));
  // A further piece may leave the metadata out.
  const TextMark facts = mark_of_facts(piece);
  if (!goes_on || facts.size() > 0) told.facts = facts;
  told.is_new = false;
  turn_.emit(task::ArtifactChunk{std::move(piece), goes_on, last_chunk});
}

// Passes on thoughts. Unless they are appended, they are all of the artifact's.
void Relay::tell_thoughts(Told& told, std::string text, bool append) {
  const bool goes_on = append || told.thoughts.begins(text);
  if (!append && goes_on) text.erase(0, told.thoughts.size());
  if (text.empty()) return;
  if (!goes_on) told.thoughts = {};
  told.thoughts.add(text);
  has_told_ = true;
  turn_.reasoning(std::move(text));
}

// Passes on a reply's text: a piece of it if `append`, otherwise the whole text. A whole text that begins
// with the text passed on before continues it; any other replaces it.
void Relay::tell_reply(const std::string& id, Told& told, std::string text, bool append, bool last) {
  has_told_ = true;
  const bool is_whole = !append && !told.is_new;
  const bool goes_on = !is_whole || told.text.begins(text);
  if (is_whole && goes_on) text.erase(0, told.text.size());
  if (!goes_on) told.text = {};
  told.text.add(text);
  told.is_new = false;
  turn_.reply(id, std::move(text), !goes_on, last);
}

// Passes on the new content of an artifact; `artifact` is its present state.
void Relay::tell_whole(task::Artifact artifact) {
  task::Artifact now = named(std::move(artifact));
  std::string thoughts = take_thoughts(now);
  const bool is_thought = !thoughts.empty() && now.parts.empty();
  const bool is_known = told_.contains(now.id.value);
  if (!is_known && is_reply(now) && earlier_replies_.contains(joined(now.parts))) return;
  Told* const told = place_of(now);
  if (told == nullptr) return;
  tell_thoughts(*told, std::move(thoughts), false);
  if (is_thought) return;
  if (!told->is_reply) return tell_whole_parts(*told, std::move(now));
  tell_reply(now.id.value, *told, take_text(now), false, false);
  if (!now.parts.empty()) tell_whole_parts(*told, std::move(now));
}

void Relay::tell_whole_parts(Told& told, task::Artifact now) {
  const std::vector<TextMark>& before = told.parts;
  const bool begins_as_before =
      !told.is_new && now.parts.size() >= before.size() &&
      std::ranges::equal(before, now.parts | std::views::take(before.size()), {}, {}, mark_of);
  const TextMark facts = mark_of_facts(now);
  const bool has_new_facts = !told.is_reply && facts.size() > 0 && facts != told.facts;
  if (begins_as_before && now.parts.size() == before.size() && !has_new_facts) return;
  if (begins_as_before) now.parts.erase(now.parts.begin(), now.parts.begin() + std::ssize(before));
  tell_chunk(told, std::move(now), begins_as_before, false);
}

void Relay::tell_status(const task::Status& status, const task::Json& metadata) {
  outcome_ = outcome_of(status);
  if (auto* done = outcome_ ? std::get_if<Done>(&*outcome_) : nullptr; done && !done->message)
    done->message = own(std::exchange(first_message_, std::nullopt));
  if (outcome_) tell_first_message();
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
