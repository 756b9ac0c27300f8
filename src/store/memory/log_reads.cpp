#include "store/memory/log_reads.h"

#include <algorithm>
#include <tuple>

#include "task/fold.h"

namespace baton::store::memory {
namespace {

// Memory limit of one read of a context: it returns the newest messages up to this size, at least one.
constexpr std::size_t kContextBytesMax = 4 << 20;

// The streamed reply that begins with the first of these events, as a message. Empty: a later event withdrew
// or restarted it.
std::optional<task::Message> reply_in(Log log) {
  const auto& first = std::get<task::TextDelta>(log.front()->body);
  task::Artifact reply;
  for (const task::EventPtr& event : log) {
    const auto* piece = std::get_if<task::TextDelta>(&event->body);
    const auto* chunk = std::get_if<task::ArtifactChunk>(&event->body);
    const auto* withdrawn = std::get_if<task::Withdrawn>(&event->body);
    const bool goes_on = piece && piece->ordinal == first.ordinal;
    const bool continues = chunk && chunk->artifact.ordinal == first.ordinal;
    if (goes_on && piece->first && piece != &first) return std::nullopt;
    if (continues && !chunk->append) return std::nullopt;
    if (withdrawn && std::ranges::count(withdrawn->artifacts, first.reply) > 0) return std::nullopt;
    if (goes_on) task::append_piece(reply, *piece);
    if (continues) task::append_piece(reply, *chunk);
  }
  task::Message message;
  message.id = {reply.id.value};
  message.role = task::Role::agent;
  message.parts = std::move(reply.parts);
  return message;
}

// What the event at `index` says in the conversation, if anything.
std::optional<task::Message> said_at(Log log, std::size_t index) {
  const task::Event& event = *log[index];
  if (std::holds_alternative<task::TextDelta>(event.body)) return reply_in(log.subspan(index));
  // The streamed reply itself is part of the conversation.
  std::optional<task::Event> changed;
  const task::Event* own = task::without_repeated_reply(event, changed);
  const task::Message* message = own ? task::message_in(own->body) : nullptr;
  return message ? std::optional(*message) : std::nullopt;
}

bool speaks(const task::Event& event) {
  const auto* piece = std::get_if<task::TextDelta>(&event.body);
  return piece ? piece->first : task::message_in(event.body) != nullptr;
}

}  // namespace

bool is_stop(const task::EventPtr& event) {
  const task::StatusChanged* status = task::status_in(*event);
  return status != nullptr && task::is_stopped(status->status.state);
}

task::ArtifactPlaces places_of(Log log) {
  task::ArtifactPlaces places;
  for (const task::EventPtr& event : log) {
    if (const auto* piece = std::get_if<task::TextDelta>(&event->body)) {
      places[piece->reply] = {piece->ordinal, false};
    } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event->body)) {
      places[chunk->artifact.id] = {chunk->artifact.ordinal, false};
    } else if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event->body)) {
      for (const task::ArtifactId& id : withdrawn->artifacts) {
        if (const auto found = places.find(id); found != places.end()) found->second.withdrawn = true;
      }
    }
  }
  return places;
}

ContextRecord read_context(const std::vector<Chapter>& chapters, task::TaskKey task,
                           task::EventNumber unanswered, int limit) {
  ContextRecord record;
  std::vector<std::tuple<base::Timestamp, std::size_t, std::size_t>> spoken;  // time, chapter, event
  for (std::size_t chapter = 0; chapter < chapters.size(); ++chapter) {
    const Log log = chapters[chapter].log;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (speaks(*log[i])) spoken.emplace_back(log[i]->at, chapter, i);
      if (const std::string* id = task::taken_id_in(log[i]->body)) record.call_ids.push_back(*id);
    }
  }
  std::ranges::sort(spoken, std::greater<>());
  const auto wanted = static_cast<std::size_t>(std::max(limit, 0));
  std::size_t bytes = 0;
  for (const auto& [at, chapter, i] : spoken) {
    if (record.said.size() >= wanted || bytes >= kContextBytesMax) break;
    const Log log = chapters[chapter].log;
    bytes += task::weight_of(log[i]->body);
    auto said = said_at(log, i);
    const bool waits = said && chapters[chapter].task == task && log[i]->number >= unanswered &&
                       said->role == task::Role::user;
    if (said && !waits) record.said.push_back(std::move(*said));
  }
  std::ranges::reverse(record.said);
  return record;
}

}  // namespace baton::store::memory
