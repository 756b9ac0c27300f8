// Change: one step of a task, as the engine hands it to a store. What it may do is decided by apply
// (apply.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "task/event.h"
#include "task/head.h"
#include "task/ids.h"
#include "task/task.h"

namespace baton::task {

// A task to be made by a change.
struct NewTask {
  TaskId id;
  AgentName agent;
  Caller caller;
  ContextId context;  // made if this agent and caller have none of this id
  // Ids that were just made here and cannot be known to the store: it need not look. With both, the context
  // should be the task's own (store/own_context.h): it costs least.
  bool fresh_id = false, fresh_context = false;
  TaskKey parent;
  Json metadata;
  Generation origin = Generation::v1_0;
  std::string trace;
  bool hidden = false;  // until a change says `shows`: not found by a TaskRef, in no list, told to no webhook
};

// What the turn fields of the head become. Absent fields stay.
struct TurnUpdate {
  std::optional<TurnNumber> turn;
  std::optional<TurnState> state;
  std::optional<int> attempt;
  std::optional<EventNumber> message;
  // The turn is about the last MessageAdded of this very change.
  bool message_is_new = false;
  std::optional<int> waiting_messages;
  std::optional<bool> cancel_requested;
  std::optional<std::string> ask;
};

// What a caller asked for in one request beside its message; kept with the message's turn.
struct TurnRequest {
  Json metadata;
  Json tools;
  Json client_state;
  std::vector<std::string> extensions;  // switched on for the request
  // The client's own; told instead of the stored one, and forgotten once the turn has ended.
  std::optional<std::vector<Message>> history = {};
};

// What tells a repeated send from a new one: a digest of caller, agent and message. Equal digests are taken
// for equal sends, so it must be of a cryptographic hash.
struct SendDigest {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const SendDigest&, const SendDigest&) = default;
};

// Everything in it is stored, or nothing.
struct Change {
  // Exactly one of `create` and `task`.
  std::optional<NewTask> create;
  TaskKey task;

  // Refused with `conflict` unless the head has this version. Decisions set it; output does not.
  std::optional<Version> expected;
  // Refused with `conflict` unless this turn is the one running. The fence for an executor's output.
  std::optional<TurnNumber> fence;

  // Get the next numbers, in order. A status must be a legal move from the one before (may_move), or, with
  // `reopen`, leave a terminal state.
  std::vector<EventBody> events;
  bool reopen = false;
  bool shows = false;  // a hidden task is hidden no more; nor is it once it stops without being completed

  std::optional<TurnUpdate> turn;      // raises the version
  std::optional<TurnRequest> request;  // belongs to the MessageAdded of this change
  // Remembered with the change; refused with `already_exists` if the store remembers the same one.
  std::optional<SendDigest> send;
  // Set before the events: it hears of them. As with set_push, refused with `too_large` if the task would
  // then have more than `push_configs_max`.
  std::optional<PushConfig> push;
  int push_configs_max = 0;
};

}  // namespace baton::task
