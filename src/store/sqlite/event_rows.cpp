#include "store/sqlite/event_rows.h"

#include <string>
#include <utility>

#include "store/event_codec.h"
#include "store/sqlite/errors.h"

namespace baton::store::sqlite {

task::EventNumber number_at(const Query& query, int column) {
  return {query.integer(column) & task::kLogEnd.value};
}

base::Result<task::Event> event_at(const Query& query, int column) {
  task::Event event;
  event.number = number_at(query, column);
  event.at = base::from_ms(query.integer(column + 2));
  auto body = store::codec::decode(query.small(column + 1), query.text(column + 3));
  if (!body)
    return base::fail(damaged("event " + std::to_string(event.number.value) + ": " + body.error().for_log));
  event.body = std::move(*body);
  return event;
}

base::Result<task::Message> message_of(task::Event&& event) {
  if (auto* added = std::get_if<task::MessageAdded>(&event.body)) return std::move(added->message);
  if (auto* changed = std::get_if<task::StatusChanged>(&event.body); changed && changed->status.message) {
    return std::move(*changed->status.message);
  }
  return base::fail(damaged("event " + std::to_string(event.number.value) + " has no message"));
}

}  // namespace baton::store::sqlite
