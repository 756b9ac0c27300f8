// Change: one step of a task, which the engine passes to a store. apply (apply.h) decides whether it is
// allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "task/audit.h"
#include "task/event.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/task.h"

namespace baton::task {

// A task to create.
struct NewTask {
  TaskId id;
  AgentName agent;
  Caller caller;
  ContextId context;  // created if this agent and caller have none with this id
  // The id was just generated, so the store need not look it up. If both are fresh, the context should be
  // the task's own (store/own_context.h), which is cheapest.
  bool fresh_id = false, fresh_context = false;
  TaskKey parent;
  bool detached = false;
  Json metadata;
  ProtocolVersion origin = ProtocolVersion::v1_0;
  bool hidden = false;  // invisible to TaskRefs, lists and webhooks until a change has `shows`
  std::shared_ptr<const Budget> budget = {};
  std::string schedule = {};  // the name of the schedule that created the task, or empty
};

// New values for the turn fields of the head. Absent fields stay as they are.
struct TurnUpdate {
  std::optional<TurnNumber> turn;  // a turn that has no output yet: also sets turn_begin
  // `waiting` becomes `queued` as soon as `waits` is satisfied, in this change or a later one. The time in
  // `waits` is ignored here: the engine queues the turn at that time.
  std::optional<TurnState> state;
  Waits waits;  // for the state `waiting`
  std::optional<int> attempt;
  std::optional<EventNumber> message;
  // The turn's message is the last MessageAdded of this change.
  bool message_is_new = false;
  std::optional<int> waiting_messages;
  std::optional<bool> cancel_requested;
  std::optional<std::string> ask;
  std::shared_ptr<const Budget> budget;  // the new budget of a reopened task; null keeps the old one
};

// The data of a request other than its message. It is kept with the message's turn.
struct RequestData {
  bool empty() const { return trace.empty() && !says_more_than_trace(); }
  bool says_more_than_trace() const {
    return !metadata.empty() || !tools.empty() || !client_state.empty() || !extensions.empty() ||
           !hops.empty() || history.has_value();
  }

  Json metadata;
  Json tools;
  Json client_state;
  std::vector<std::string> extensions;  // active for the request
  std::vector<std::string> hops = {};   // see Submission
  // The client's own history. It replaces the stored one for the agent, and is deleted when the turn has
  // ended.
  std::optional<std::vector<Message>> history = {};
  std::string trace = {};  // see Submission
};

// Idempotency key of a send: a digest of caller, agent, task, context and message, or of caller, agent,
// context and Submission::name. Equal digests mean equal sends, so the hash must be cryptographic.
struct SendDigest {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const SendDigest&, const SendDigest&) = default;
};

// An operator's action on a task's webhook deliveries.
struct DeliveryOrder {
  // resend: deliveries that were given up, or that wait for their next attempt, are due again, before later
  // ones of the same config. skip: pending deliveries are given up, and the next one of the config is due.
  enum class Kind { resend, skip };
  Kind kind = Kind::resend;
  // The delivery's key. 0 means several: resend then applies to all that were given up and to the first
  // pending one of each config, skip to all pending ones.
  std::int64_t delivery = 0;
};

// A change is atomic: a store stores all of it or nothing.
struct Change {
  // Exactly one of `create` and `task` is set.
  std::optional<NewTask> create;
  TaskKey task;

  // The change is refused with `conflict` unless the head has this version. Decisions set it; output does
  // not. Every change raises the version or adds events.
  std::optional<Version> expected;
  // The fence for an executor's output: the change is refused with `conflict` unless this attempt of this
  // turn is running.
  struct Fence {
    TurnNumber turn;
    int attempt = 1;
  };
  std::optional<Fence> fence;

  // New events, numbered in order from the end of the log. Each status must be a legal move from the previous
  // one (may_move) or, with `reopen`, leave a terminal state.
  std::vector<EventBody> events;
  bool reopen = false;
  bool shows = false;  // makes a hidden task visible; so does a stop other than completed

  std::optional<TurnUpdate> turn;      // raises the version
  std::optional<RequestData> request;  // belongs to the MessageAdded of this change
  // Stored with the change, which is refused with `already_exists` if the store remembers an equal digest.
  std::optional<SendDigest> send;
  // Adds a config or replaces the one with the same id, before the events, so that it receives them. The
  // change is refused with `too_large` if the task would then have more than `push_configs_max`.
  std::optional<PushConfig> push;
  int push_configs_max = 0;
  // Deletes the config with this id and its deliveries, if there is one.
  std::optional<PushConfigId> drop_push;
  // The change is refused with not_found if there is nothing to resend or to skip.
  std::optional<DeliveryOrder> deliveries;
  // Stored with the change. Fields about the task that the entry leaves empty are filled in from the task of
  // the change.
  std::shared_ptr<const AuditEntry> audit;
};

}  // namespace baton::task
