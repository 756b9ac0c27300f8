// LiveLog: a task's newest events in memory. It is immutable once published, and read without a lock.
//
// Ownership: shared by LiveTasks and its readers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/live/live_events.h"
#include "store/task_store.h"

namespace baton::engine {

using Stop = store::Stop;

// The log of a live task up to its head's last event.
struct LiveLog {
  struct Request {
    task::EventNumber first, last;  // events of the change that it came with
    std::shared_ptr<const task::RequestData> request;
  };
  task::TaskHead head;
  task::Json metadata;  // of a whole log
  LiveEvents events;
  std::vector<Request> requests;  // of a whole log
  bool alone = false;             // the only task of its context, which was made for it
  bool whole = false;             // from the first event on

  // Whether it has every event after this one.
  bool covers(task::EventNumber after) const;
  // Its events after this one, if it covers them.
  std::vector<task::EventPtr> after(task::EventNumber number, std::size_t max) const;
  // The first stop after this event, if it covers it.
  std::optional<Stop> stop_after(task::EventNumber number) const;

  // Adds the data that came with the change's message, and drops the histories of clients whose turn has
  // ended, as the store does. Only for whole logs, before they are published.
  void add_request(const store::Committed& committed, std::optional<task::RequestData> request);
};
using LiveLogPtr = std::shared_ptr<const LiveLog>;

// The first of these events that stops the task after event `after`.
template <class Events>
std::optional<Stop> first_stop(const Events& events, task::EventNumber after) {
  for (const task::EventPtr& event : events) {
    const task::StatusChanged* change = task::status_in(*event);
    if (change && event->number > after && task::is_stopped(change->status.state)) {
      return Stop{change->status.state, event->number};
    }
  }
  return std::nullopt;
}

}  // namespace baton::engine
