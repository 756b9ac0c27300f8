// ShowReplies: logs what a child has said as the reply of its parent, which waits for it. Pure.
#pragma once

#include <functional>
#include <vector>

#include "engine/decide/rules/basics.h"

namespace baton::engine {

struct ShowReplies {
  task::TaskKey task;            // the parent
  task::EventNumber message;     // the message that the parent worked on when it asked for the child
  task::EventNumber last_event;  // of the parent when the events were chosen
  std::vector<task::EventBody> events;
  store::NodeId self;               // unset if the store is not shared
  std::size_t bytes_max = 0;        // of the parent's log; past it no more replies are shown
  std::function<bool()> is_wanted;  // false once the child has ended or is given up

  // Results.
  bool is_early = false;     // a turn of the parent runs: try again when it is over
  bool has_changed = false;  // the parent's log has grown meanwhile: choose the events again

  // Refuses with conflict if the parent cannot show the replies now, with not_found if it never will.
  base::Result<task::Change> decide(const store::TaskRow& now) {
    using base::ErrorCode;
    const task::TaskHead& head = now.head;
    is_early = has_changed = false;
    const bool waits = is_ours(now, self) && is_wanted() && head.turn_state != task::TurnState::none &&
                       head.turn_message == message && !head.cancel_requested;
    std::size_t bytes = head.bytes;
    for (const task::EventBody& body : events) bytes += task::weight_of(body);
    if (!waits || bytes > bytes_max)
      return base::fail(ErrorCode::not_found, "the task does not show the child's replies");
    is_early = head.turn_state != task::TurnState::waiting;
    has_changed = head.last_event != last_event;
    // The question that a task shows ends what it has said.
    if (is_early || has_changed || task::is_waiting(head.state))
      return base::fail(ErrorCode::conflict, "the task does not show the child's replies now");
    task::Change change;
    change.task = head.key;
    change.events = events;
    change.shows = true;
    return change;
  }
};

}  // namespace baton::engine
