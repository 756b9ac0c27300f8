// Baton's extension of A2A: its URI, and its members in the metadata of requests and of shown events. All of
// it is public; schema/README.md describes it.
//
// A card has it with the parameters {"idempotentSend": true}: a send that is repeated with the same message,
// its id and its content, is one task (README, promise 6).
// A request has `metadata["urn:baton:a2a:1"] = {"eventNumbers": true, "startAt": ..., "hops":
// ["server/agent"], "ask": "<id>", "budget": {...}}`; `startAt` is an event's number in a subscription and a
// time in a send. A task that has ended, and the event with which it does, have `metadata["urn:baton:a2a:1"]
// =
// {"usage": {"tokens", "children"}}` if it used any.
// With `eventNumbers`, each shown event has `metadata["urn:baton:a2a:1"] = {"from": N}`: it covers the log
// from number N up to its own. The message of a status whose question has come up from a child task has
// `metadata["urn:baton:a2a:1"] = {"ask": "<id>", "askedBy": [{"agent", "task"}]}`: the question's id, and the
// child, its child, and so on to the one that asks. A request with that `ask` answers this question and no
// other. Threads: any; pure functions.
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
    "Numbers of events: a stream says which numbers of the task's log each event covers (eventNumbers), and "
    "a subscription begins at any of them (startAt). The task of a send begins at a time (startAt). A "
    "repeated "
    "send is one task (idempotentSend).";
inline constexpr std::string_view kBatonExtensionParams = R"({"idempotentSend":true})";

// What a request asks about the numbers in its stream.
struct NumbersWish {
  bool every = false;                         // eventNumbers
  std::optional<task::EventNumber> start_at;  // the first event wanted, from 1
  bool given = false;                         // has the extension's member, even empty, or lastEventId
};

// Whether a card says by the extension that a send repeated with the same message is the same task.
bool repeats_safely(const task::AgentCard& card);
// Whether a card declares the extension.
bool has_baton_extension(const task::AgentCard& card);

// Of a subscription, and of a send, which has no start_at. They fail with invalid_argument and a text that
// begins with `name`, the path of the metadata.
base::Result<NumbersWish> read_numbers_wish(json::Value metadata, const std::string& name);
base::Result<NumbersWish> read_send_numbers(json::Value metadata, const std::string& name);

// The member `startAt` of a send: when its task begins. A number, which says nothing in a send, is ignored.
// Fails as above.
base::Result<std::optional<base::Timestamp>> read_start_time(json::Value metadata, const std::string& name);

// The member `budget` of a send: limits of the task that it makes; null: none. Fails as above.
base::Result<std::shared_ptr<const task::Budget>> read_budget(json::Value metadata, const std::string& name);

// The member `hops` of a request: the agents on other servers through which it came. Fails as above.
base::Result<std::vector<std::string>> read_hops(json::Value metadata, const std::string& name);
// The member `ask` of a request: the question that it answers; empty: none. Fails as above.
base::Result<std::string> read_ask(json::Value metadata, const std::string& name);
// Metadata with these hops, for a request to another server, and with this budget, in whole seconds.
// `metadata` is an object or absent.
task::Json with_hops(const task::Json& metadata, const std::vector<std::string>& hops,
                     const task::Budget& budget = {});

// A request's metadata without the extension's member, which is for Baton and not for the task. `metadata` is
// an object or absent.
task::Json without_extension(json::Value metadata);

// An event's metadata with the first number that it covers. Replaces what an agent wrote under the URI.
task::Json with_from(const task::Json& metadata, task::EventNumber from);

// The metadata of a shown task or event with what the task has taken, if it ended with this status and took
// anything.
task::Json with_usage(const task::Json& metadata, const task::Status& status);
// The member `usage` of such metadata from another server, within bounds; nothing said: nothing taken.
task::Taken read_usage(const task::Json& metadata);

}  // namespace baton::protocol
