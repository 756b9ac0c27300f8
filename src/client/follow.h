// Follows a task's stream to its end over as many connections as it takes. No event is delivered twice, and
// none is missed as long as the server numbers its events.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/endpoint.h"
#include "protocol/a2a/client/updates.h"
#include "task/ids.h"
#include "task/state.h"

namespace baton::client {

struct FollowPlan {
  const protocol::a2a::ClientDialect* dialect = nullptr;
  task::TaskId task;  // empty: the server will say
  // A streaming send to begin with; unset: subscribe at once.
  std::optional<protocol::a2a::ClientRequest> first_request;
  // If the protocol lets the client name tasks: the request makes a new task, so a server that does not know
  // the task did not get the request, and it may be sent again. Otherwise the message has an id, and may
  // always be sent again.
  bool may_send_again = false;
  // The message answers a question: the stream may begin with the task as it still waits for that.
  bool answers = false;
  // The server may not recognise a repeated message: end with an error if one may have arrived.
  bool sends_once = false;
  // Begin after this event; unset: with the current state.
  std::optional<std::int64_t> after;
  // End where events may be missed: a subscription of 0.1 without a number begins with the next event.
  bool ends_at_gap = false;
  // End also when the task waits for its caller, not only when it has ended.
  bool until_waiting = false;
  // The server has answered already, if only with its card: wait for it longer than for one that never did.
  bool is_met = false;
  // Where the bytes of answers are counted; null: nowhere.
  const http::outbound::Intake* intake = nullptr;
  // Give up after so long without contact, once a connection was lost.
  std::chrono::milliseconds give_up_after{60'000};
};

// What `follow` needs from outside. `wait` returns whether to stop altogether.
struct FollowWorld {
  std::function<StreamEnd(const StreamRequest&, const OnStreamEvent&)> open;
  // For `send_plain`: makes the request and waits for its answer.
  std::function<tl::expected<task::Json, CallError>(const protocol::a2a::ClientRequest&)> send;
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<bool(std::chrono::milliseconds)> wait;
  std::function<void(std::string_view result, protocol::a2a::Update)> on_event;
  // Reads the task, for a server that has no stream of a task that has ended.
  std::function<tl::expected<task::Json, CallError>(const task::TaskId&)> read_task;
  std::function<void(const std::string&)> on_trouble;  // told when a connection is lost
  // A number from 0 to 1, for delays that differ between clients; empty: they do not.
  std::function<double()> jitter = {};
};

struct FollowEnd {
  std::optional<task::State> state;  // the last seen; a reply without a task is a completion
  task::TaskId task;                 // empty: the server never said
  std::optional<CallError> error;    // absent: the stream came to its end, or was stopped
  bool stopped = false;
  bool unknown = false;          // it is not known whether the message arrived
  bool at_gap = false;           // the rest of the task's events may be missed: read the task
  std::int64_t last_number = 0;  // the event to resume after
};

FollowEnd follow(const FollowPlan& plan, const FollowWorld& world);

// Sends `plan.first_request` without a stream and waits for the answer, which goes to `world.on_event`. Sends
// it again while no answer comes, until `plan.give_up_after`; but once only if the client names its tasks
// (0.1), as later versions recognise a repeated message by its id.
FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world);

}  // namespace baton::client
