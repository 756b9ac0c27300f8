// Change: one step of a task, handed by the engine to a store. apply (apply.h) decides whether it is allowed.
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
  // The id was just generated, so the store need not look for it. If both are fresh, the context should be
  // the task's own (store/own_context.h), which is cheapest.
  bool fresh_id = false, fresh_context = false;
  TaskKey parent;
  bool detached = false;
  Json metadata;
  ProtocolVersion origin = ProtocolVersion::v1_0;
  bool hidden = false;  // until a change has `shows`: invisible to TaskRefs, lists and webhooks
  std::shared_ptr<const Budget> budget = {};
  std::string schedule = {};  // the name of the schedule that made it; empty: none did
};

// New values for the turn fields of the head. Absent fields stay as they are.
struct TurnUpdate {
  std::optional<TurnNumber> turn;  // a turn that has shown nothing yet: sets turn_begin
  // `waiting` becomes `queued` as soon as `waits` says so, in this change or a later one. Its time is not
  // looked at: the engine queues the turn when that has come.
  std::optional<TurnState> state;
  Waits waits;  // with `waiting`
  std::optional<int> attempt;
  std::optional<EventNumber> message;
  // The turn's message is the last MessageAdded of this change.
  bool message_is_new = false;
  std::optional<int> waiting_messages;
  std::optional<bool> cancel_requested;
  std::optional<std::string> ask;
  std::shared_ptr<const Budget> budget;  // of a task that is reopened; null: as it was
};

// What a request says besides its message; kept with the message's turn.
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
  // The client's own history: replaces the stored one for the agent; deleted once the turn has ended.
  std::optional<std::vector<Message>> history = {};
  std::string trace = {};  // see Submission
};

// Idempotency key of a send: a digest of caller, agent, task, context and message, or of caller, agent,
// context and Submission::name. Equal digests mean equal sends, so the hash must be cryptographic.
struct SendDigest {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const SendDigest&, const SendDigest&) = default;
};

// What an operator wants done with a task's webhook deliveries.
struct DeliveryOrder {
  // resend: what was given up, or waits for its next attempt, is due again, before the later ones of its
  // config. skip: what waits is given up, and the next one of its config is due.
  enum class Kind { resend, skip };
  Kind kind = Kind::resend;
  // Its key. 0: of resend, all that were given up, and each config's first one that waits; of skip, all that
  // wait.
  std::int64_t delivery = 0;
};

// Atomic: everything in it is stored, or nothing.
struct Change {
  // Exactly one of `create` and `task`.
  std::optional<NewTask> create;
  TaskKey task;

  // Refused with `conflict` unless the head has this version. Decisions set it; output does not. Every change
  // raises the version or adds events.
  std::optional<Version> expected;
  // Refused with `conflict` unless this attempt of this turn is running. The fence for an executor's output.
  struct Fence {
    TurnNumber turn;
    int attempt = 1;
  };
  std::optional<Fence> fence;

  // Numbered in order from the end of the log. A status must be a legal move from the one before (may_move),
  // or, with `reopen`, leave a terminal state.
  std::vector<EventBody> events;
  bool reopen = false;
  bool shows = false;  // makes a hidden task visible, as does a stop other than completed

  std::optional<TurnUpdate> turn;      // raises the version
  std::optional<RequestData> request;  // belongs to the MessageAdded of this change
  // Stored with the change. Refused with `already_exists` if the store remembers an equal digest.
  std::optional<SendDigest> send;
  // Adds a config or replaces the one with the same id, before the events, so that it receives them. Refused
  // with `too_large` if the task would then have more than `push_configs_max`.
  std::optional<PushConfig> push;
  int push_configs_max = 0;
  // Deletes the config with this id and its deliveries, if there is one.
  std::optional<PushConfigId> drop_push;
  // Refused with not_found if there is nothing to resend or to skip.
  std::optional<DeliveryOrder> deliveries;
  // Stored with the change; what it does not say of its task is taken from this one.
  std::shared_ptr<const AuditEntry> audit;
};

}  // namespace baton::task
