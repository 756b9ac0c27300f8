#include "store/waiting_messages.h"

#include <algorithm>

#include "task/fold.h"

namespace baton::store {

void note_waiting(TaskRow& row, std::span<const task::EventPtr> events) {
  std::erase_if(row.waiting, [&](task::EventNumber number) { return number <= row.head.turn_message; });
  for (const task::EventPtr& event : events) {
    const task::Message* message = task::message_in(event->body);
    const bool is_users = message != nullptr && message->role == task::Role::user;
    if (is_users && event->number > row.head.turn_message) row.waiting.push_back(event->number);
  }
  const auto waiting = static_cast<std::size_t>(std::max(row.head.waiting_messages, 0));
  row.waiting.resize(std::min(row.waiting.size(), waiting));
}

}  // namespace baton::store
