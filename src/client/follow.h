// Follows a task's stream to its end over as many connections as needed. Delivers no event twice, and misses
// none if the server numbers its events.
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
  task::TaskId task;  // empty: the server chooses it
  // The streaming send to begin with; unset: subscribes instead.
  std::optional<protocol::a2a::ClientRequest> first_request;
  // Only for protocols whose clients name tasks: the request creates a new task, so a server that does not
  // know the task did not get the request, and it may be sent again. In other protocols the message has an
  // id, so it may always be sent again.
  bool may_send_again = false;
  // The message answers a question: the stream may begin with the state in which the task still waits.
  bool answers = false;
  // The server may not recognise a repeated message: ends with an error if the message may have arrived.
  bool sends_once = false;
  // Begins after this event; unset: with the current state.
  std::optional<std::int64_t> after;
  // Ends where events may be missed: a subscription of 0.1 without a number begins with the next event.
  bool ends_at_gap = false;
  // Ends when the task has ended or waits for its caller, not only when it has ended.
  bool until_waiting = false;
  // The server has answered before, if only with its card. Waits longer for it than for one that never did.
  bool is_met = false;
  // Counts the bytes of answers; null: they are not counted.
  const outbound::Intake* intake = nullptr;
  // Gives up after so long without contact, once a connection was lost.
  std::chrono::milliseconds give_up_after{60'000};
};

// The functions that `follow` needs from its caller. `wait` waits for the time and returns true to stop
// following.
struct FollowWorld {
  std::function<StreamEnd(const StreamRequest&, const OnStreamEvent&)> open;
  // For `send_plain`: makes the request and waits for its answer.
  std::function<tl::expected<task::Json, CallError>(const protocol::a2a::ClientRequest&)> send;
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<bool(std::chrono::milliseconds)> wait;
  std::function<void(std::string_view result, protocol::a2a::Update)> on_event;
  // Reads the task, for servers without streams of ended tasks.
  std::function<tl::expected<task::Json, CallError>(const task::TaskId&)> read_task;
  std::function<void(const std::string&)> on_trouble;  // called with the reason when a connection is lost
  // Returns a number from 0 to 1 that randomises delays between clients; empty: no jitter.
  std::function<double()> jitter = {};
};

struct FollowEnd {
  std::optional<task::State> state;  // the last one seen; `completed` for a reply without a task
  task::TaskId task;                 // empty: the server never sent it
  std::optional<CallError> error;    // absent: the stream ended normally, or was stopped
  bool stopped = false;
  bool unknown = false;          // it is not known whether the message arrived
  bool at_gap = false;           // the rest of the task's events may be missed: read the task
  std::int64_t last_number = 0;  // the event to resume after
};

FollowEnd follow(const FollowPlan& plan, const FollowWorld& world);

// Sends `plan.first_request` without a stream, waits for the answer and passes it to `world.on_event`. Sends
// the request again while no answer comes, until `plan.give_up_after`. Sends it only once if the client names
// its tasks (0.1): only later versions recognise a repeated message by its id.
FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world);

}  // namespace baton::client
