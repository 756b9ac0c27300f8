#include "store/log_reads.h"

#include <algorithm>
#include <utility>

#include "task/fold.h"

namespace baton::store {
namespace {

constexpr std::size_t kConversationBytesMax = 4 << 20;

bool is_for_child(const task::EventBody& body) {
  const auto* added = std::get_if<task::MessageAdded>(&body);
  return added != nullptr && added->for_child;
}

}  // namespace

bool is_stop(const task::EventBody& body) {
  const auto* changed = std::get_if<task::StatusChanged>(&body);
  return changed != nullptr && task::is_stopped(changed->status.state);
}

bool is_landmark(const task::EventBody& body) {
  return task::message_in(body) != nullptr || is_stop(body);
}

bool speaks(const task::EventBody& body) {
  const auto* piece = std::get_if<task::TextDelta>(&body);
  return piece ? piece->first : task::message_in(body) != nullptr;
}

task::ArtifactPlaces places_of(std::span<const task::EventPtr> log) {
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

void note_waiting(TaskRow& row, std::span<const task::EventPtr> events) {
  std::erase_if(row.waiting, [&](task::EventNumber number) { return number <= row.head.turn_message; });
  for (const task::EventPtr& event : events) {
    const task::Message* message = task::message_in(event->body);
    const bool is_users = message != nullptr && message->role == task::Role::user;
    if (is_users && !is_for_child(event->body) && event->number > row.head.turn_message)
      row.waiting.push_back(event->number);
  }
  const auto waiting = static_cast<std::size_t>(std::max(row.head.waiting_messages, 0));
  row.waiting.resize(std::min(row.waiting.size(), waiting));
}

Conversation::Conversation(task::TaskKey task, task::EventNumber unanswered, int limit)
    : task_(task), unanswered_(unanswered), wanted_(static_cast<std::size_t>(std::max(limit, 0))) {}

bool Conversation::is_full() const {
  return said_.size() >= wanted_ || bytes_ >= kConversationBytesMax;
}

void Conversation::add(task::TaskKey key, const task::Event& event) {
  if (is_full()) return;
  if (const auto* withdrawn = std::get_if<task::Withdrawn>(&event.body)) {
    later_[key].replaced.insert(withdrawn->artifacts.begin(), withdrawn->artifacts.end());
  } else if (const auto* piece = std::get_if<task::TextDelta>(&event.body)) {
    add_piece(later_[key], *piece);
  } else {
    // The streamed reply itself is part of the conversation.
    std::optional<task::Event> changed;
    const task::Event* own = task::without_repeated_reply(event, changed);
    const task::Message* message = own ? task::message_in(own->body) : nullptr;
    const bool waits = key == task_ && event.number >= unanswered_ && message &&
                       message->role == task::Role::user && !is_for_child(event.body);
    if (message && !waits) say(task::Message(*message));
  }
}

void Conversation::add_piece(Later& later, const task::TextDelta& piece) {
  if (later.replaced.contains(piece.reply)) return;
  auto& pieces = later.pieces[piece.reply];
  pieces.push_back(piece.text);
  if (!piece.first) return;
  std::string text;
  for (auto each = pieces.rbegin(); each != pieces.rend(); ++each) text += *each;
  later.pieces.erase(piece.reply);
  later.replaced.insert(piece.reply);
  if (text.empty()) return;  // it was withdrawn
  task::Message reply;
  reply.id = {piece.reply.value};
  reply.role = task::Role::agent;
  reply.parts.push_back(task::Part::of_text(std::move(text)));
  say(std::move(reply));
}

void Conversation::say(task::Message&& message) {
  bytes_ += task::weight_of(message);
  said_.push_back(std::move(message));
}

std::vector<task::Message> Conversation::oldest_first() && {
  std::ranges::reverse(said_);
  return std::move(said_);
}

}  // namespace baton::store
