#include "engine/live/live_log.h"

#include <algorithm>
#include <utility>

namespace baton::engine {

bool LiveLog::covers(task::EventNumber after) const {
  return whole || (!events.empty() && events.front()->number.value <= after.value + 1);
}

std::vector<task::EventPtr> LiveLog::after(task::EventNumber number, std::size_t max) const {
  if (events.empty()) return {};
  const std::int64_t skip = std::max<std::int64_t>(number.value + 1 - events.front()->number.value, 0);
  const auto from = std::min(static_cast<std::size_t>(skip), events.size());
  const auto count = std::min(max, events.size() - from);
  std::vector<task::EventPtr> found;
  found.reserve(count);
  for (std::size_t i = from; i < from + count; ++i) found.push_back(events[i]);
  return found;
}

std::optional<Stop> LiveLog::stop_after(task::EventNumber number) const {
  return first_stop(events, number);
}

void LiveLog::add_request(const store::Committed& committed, std::optional<task::RequestData> request) {
  if (request && !request->empty() && !committed.events.empty()) {
    requests.push_back({committed.events.front()->number, committed.events.back()->number,
                        std::make_shared<const task::RequestData>(std::move(*request))});
  }
  for (Request& one : requests) {
    const bool is_over = head.turn_state == task::TurnState::none || one.last < head.turn_message;
    if (!is_over || !one.request->history) continue;
    auto rest = std::make_shared<task::RequestData>(*one.request);
    rest->history.reset();
    one.request = std::move(rest);
  }
}

}  // namespace baton::engine
