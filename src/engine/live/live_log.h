// LiveLog: a task's newest events in memory. Once published it is never changed, and read without a lock.
//
// Ownership: shared by LiveTasks and whoever reads it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "store/task_store.h"

namespace baton::engine {

using Stop = store::Stop;

// The log of a live task up to its head's last event.
struct LiveLog {
  struct Request {
    task::EventNumber first, last;  // events of the change it came with
    std::shared_ptr<const task::RequestData> request;
  };
  task::TaskHead head;
  task::Json metadata;                 // of a whole log
  base::Timestamp created{};           // of a whole log
  std::vector<task::EventPtr> events;  // one after the other
  std::vector<Request> requests;       // of a whole log
  bool alone = false;                  // the only task of its context, which was made for it
  bool whole = false;                  // from the first event on

  // Whether it has every event after this one.
  bool covers(task::EventNumber after) const;
  // Its events after this one, if it covers them.
  std::vector<task::EventPtr> after(task::EventNumber number, std::size_t max) const;
  // The first stop after this event, if it covers it.
  std::optional<Stop> stop_after(task::EventNumber number) const;

  // Before it is published, of a whole log: adds what came with the change's message, and forgets clients'
  // histories once their turn has ended, as the store does.
  void add_request(const store::Committed& committed, std::optional<task::RequestData> request);
};
using LiveLogPtr = std::shared_ptr<const LiveLog>;

// The first of these events that stops the task after event `after`.
std::optional<Stop> first_stop(const std::vector<task::EventPtr>& events, task::EventNumber after);

}  // namespace baton::engine
