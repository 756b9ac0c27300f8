// Baton's extension of A2A: its URI, and its members in the metadata of requests and of shown events. All of
// it is public; schema/EXTENSION.md describes it.
//
// The members are in metadata["urn:baton:a2a:1"].
// - Agent card: declares the extension with the parameters {"idempotentSend": true}. Sends that repeat the
//   same message (id and content) create one task (README, promise 6).
// - Request:
//   {"eventNumbers": true, "startAt": ..., "hops": ["server/agent"], "ask": "<id>", "budget": {...}}.
//   `startAt` is an event's number in a subscription and a time in a send.
// - Task that has ended, and the event that ends it: {"usage": {"tokens", "children"}}, if it used any.
// - Shown event, if `eventNumbers` was set: {"from": N}. It covers the log from number N up to its own.
// - Message of a status whose question came from a child task:
//   {"ask": "<id>", "askedBy": [{"agent", "task"}]}, the question's id, and the path from the task's own
//   child to the task that asks. A request with that `ask` answers only this question.
//
// Threads: any; pure functions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "task/card.h"
#include "task/task.h"

namespace baton::protocol {

inline constexpr std::string_view kBatonExtension = "urn:baton:a2a:1";
inline constexpr std::string_view kBatonExtensionText =
    "Event numbers: a stream reports which numbers of the task's log each event covers (eventNumbers), and a "
    "subscription can start at any of them (startAt). A task can start at a given time (startAt). Repeating "
    "a send returns the same task (idempotentSend).";
inline constexpr std::string_view kBatonExtensionParams = R"({"idempotentSend":true})";

// A request's options for event numbers in its stream.
struct NumbersWish {
  bool every = false;                         // eventNumbers
  std::optional<task::EventNumber> start_at;  // the first event wanted, from 1
  bool given = false;                         // has the extension's member, even empty, or lastEventId
};

// Returns the agent that asks a question which came from a child task; empty if the task's own agent asks.
// `metadata`: that of the question's message.
std::string asking_agent(const task::Json& metadata);

// Whether a card promises, by the extension, that sends with the same message create one task.
bool repeats_safely(const task::AgentCard& card);
// Whether a card declares the extension.
bool has_baton_extension(const task::AgentCard& card);

// Read the options of a subscription, and of a send, which has no start_at. Fail with invalid_argument and a
// text that begins with `name`, the path of the metadata.
base::Result<NumbersWish> read_numbers_wish(json::Value metadata, const std::string& name);
base::Result<NumbersWish> read_send_numbers(json::Value metadata, const std::string& name);

// Reads the member `startAt` of a send: the start time of its task. A number, which has no meaning in
// a send, is ignored. Fails as above.
base::Result<std::optional<base::Timestamp>> read_start_time(json::Value metadata, const std::string& name);

// Reads the member `budget` of a send: limits for the task that it creates; null if absent. Fails as above.
base::Result<std::shared_ptr<const task::Budget>> read_budget(json::Value metadata, const std::string& name);

// Reads the member `hops` of a request: the agents on other servers that passed it on. Fails as above.
base::Result<std::vector<std::string>> read_hops(json::Value metadata, const std::string& name);
// Reads the member `ask` of a request: the id of the question that it answers, or empty. Fails as above.
base::Result<std::string> read_ask(json::Value metadata, const std::string& name);
// Returns the metadata for a request to another server, with these hops and this budget, whose time is in
// whole seconds. `metadata` is an object or absent.
task::Json with_hops(const task::Json& metadata, const std::vector<std::string>& hops,
                     const task::Budget& budget = {});

// Returns a request's metadata without the extension's member, which is for Baton and not for the task.
// `metadata` is an object or absent.
task::Json without_extension(json::Value metadata);

// Returns an event's metadata with the first number that it covers. Replaces a member that an agent wrote
// under the URI.
task::Json with_from(const task::Json& metadata, task::EventNumber from);

// Returns the metadata of a shown task or event with the task's usage, if this status ends the task and it
// used anything.
task::Json with_usage(const task::Json& metadata, const task::Status& status);
// Reads the member `usage` of metadata from another server, limited to valid values. If absent, the usage is
// 0.
task::Taken read_usage(const task::Json& metadata);

}  // namespace baton::protocol
