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
  // The caller has another way to send: ends with the error if the server does not implement this one (501).
  bool has_other_way = false;
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
  // Gives up after so long without contact, once a connection was lost. Gives up at once if the server asks
  // for a pause that ends later.
  std::chrono::milliseconds give_up_after{60'000};
};

// What following reports, and needs from outside beside the calls.
struct FollowHooks {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::string_view result, protocol::a2a::Update)> on_event;
  std::function<void(const std::string&)> on_trouble;  // called with the reason when a connection is lost
  // Returns a number from 0 to 1 that randomises delays between clients; empty: no jitter.
  std::function<double()> jitter = {};
};

// The functions that `follow` needs from its caller. `wait` waits for the time and returns true to stop
// following.
struct FollowWorld : FollowHooks {
  std::function<StreamEnd(const StreamRequest&, const OnStreamEvent&)> open;
  // For `send_plain`: makes the request and waits for its answer.
  std::function<tl::expected<task::Json, CallError>(const protocol::a2a::ClientRequest&)> send;
  std::function<bool(std::chrono::milliseconds)> wait;
  // Reads the task, for servers without streams of ended tasks.
  std::function<tl::expected<task::Json, CallError>(const task::TaskId&)> read_task;
};

struct FollowEnd {
  std::optional<task::State> state;  // the last one seen; `completed` after messages without a task
  task::TaskId task;                 // empty: the server never sent it
  std::optional<CallError> error;    // absent: the stream ended normally, or was stopped
  bool stopped = false;
  bool unknown = false;          // it is not known whether the message arrived
  bool at_gap = false;           // the rest of the task's events may be missed: read the task
  std::int64_t last_number = 0;  // the event to resume after
};

// Blocks. `Follower` is for callers that must not.
FollowEnd follow(const FollowPlan& plan, const FollowWorld& world);

// Blocks, like `follow`; `PlainSend` does not. Sends `plan.first_request` without a stream, waits for the
// answer and passes it to `world.on_event`. Sends the request again while no answer comes, until
// `plan.give_up_after`. Sends it only once if the client names its tasks (0.1): only later versions recognise
// a repeated message by its id.
FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world);

// What following needs next.
struct FollowStep {
  // open: a stream. send: a plain request. read: the task. wait: time. end: nothing, it is over.
  enum class Kind { open, send, read, wait, end };
  Kind kind = Kind::end;
  StreamRequest request = {};         // open
  task::TaskId task = {};             // read
  std::chrono::milliseconds time{0};  // wait
};

// Follower: `follow` as its decisions, without the calls. Its caller takes each step, and reports the result,
// which leads to the next one.
//
// Threads: one at a time.
class Follower {
 public:
  // `may_read`: whether the steps may include `read`.
  Follower(FollowPlan plan, FollowHooks hooks, bool may_read);

  FollowStep begin();
  // After `open`: gets each event of the stream, and returns false to end it.
  bool accept(std::int64_t number, std::string_view result);
  // Then gets the end of the stream. Returns whether it is over; otherwise `after_stream` comes next.
  bool closed(StreamEnd end);
  FollowStep after_stream();
  // After `read`. Decodes the task.
  FollowStep read(const tl::expected<task::Json, CallError>& result);
  // After `wait`.
  FollowStep waited();
  // Ends it early.
  const FollowEnd& stop();
  // Once it is over.
  const FollowEnd& end() const { return end_; }

 private:
  FollowStep open_next();
  FollowStep look(const CallError& error);
  FollowStep after_look();
  FollowStep pause();
  FollowStep finish(std::optional<CallError> error);
  StreamRequest next_request() const;
  void note_state(const protocol::a2a::Update& update);
  bool ends_with_messages() const;
  bool is_over(const StreamEnd& end, std::chrono::nanoseconds lasted) const;
  std::chrono::milliseconds pause_time() const;
  std::optional<CallError> hopeless(const StreamEnd& end);
  bool gave_up() const;

  // its_end: the task is over, and was shown. alive: it still works. no_answer: the task could not be read
  // now. unread: it was not read, or there is no such task (final_).
  enum class Seen { its_end, alive, no_answer, unread };
  Seen seen_in(const tl::expected<task::Json, CallError>& result);

  const FollowPlan plan_;
  const FollowHooks hooks_;
  const bool may_read_;
  bool sending_;
  std::optional<std::int64_t> after_;
  std::int64_t seen_before_ = 0;  // the last number of earlier connections
  // Size and hash of the state that was sent on the last subscription. The state itself may be too large to
  // keep.
  struct Snapshot {
    std::size_t size = 0, hash = 0;
    friend bool operator==(const Snapshot&, const Snapshot&) = default;
  };
  std::optional<Snapshot> snapshot_;
  bool heard_ = false;     // at least one event came
  bool progress_ = false;  // at least one event came on this connection
  bool over_ = false;
  std::size_t messages_ = 0;  // since the last other event of this connection
  bool is_empty_ = false;     // the last one of these has no parts
  bool has_task_ = false;     // an event was no message
  bool first_on_connection_ = true;
  bool first_event_ = true;
  std::optional<CallError> final_;     // the answer to reading the task
  std::optional<CallError> broken_;    // an event of this connection is invalid
  std::optional<CallError> hopeless_;  // of the last connection
  StreamEnd last_;                     // connection
  std::chrono::steady_clock::time_point silent_since_, opened_;
  std::chrono::milliseconds delay_;
  FollowEnd end_;
};

// PlainSend: `send_plain` as its decisions. Threads: one at a time.
class PlainSend {
 public:
  PlainSend(FollowPlan plan, FollowHooks hooks);

  FollowStep begin() const { return {FollowStep::Kind::send}; }
  // After `send`. Decodes the answer.
  FollowStep answered(const tl::expected<task::Json, CallError>& result);
  // After `wait`.
  FollowStep waited();
  // Ends it early.
  const FollowEnd& stop();
  const FollowEnd& end() const { return end_; }

 private:
  void show(const task::Json& result);

  const FollowPlan plan_;
  const FollowHooks hooks_;
  std::optional<std::chrono::steady_clock::time_point> silent_since_;
  std::chrono::milliseconds delay_;
  FollowEnd end_;
};

}  // namespace baton::client
