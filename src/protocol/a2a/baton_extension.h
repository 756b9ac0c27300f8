// Baton's extension of A2A: its URI, and its members in the metadata of requests and of shown events. All of
// it is public; README describes it.
//
// A request has `metadata["urn:baton:a2a:1"] = {"eventNumbers": true, "startAt": N}`. With `eventNumbers`,
// each shown event has `metadata["urn:baton:a2a:1"] = {"from": N}`: it covers the log from number N up to its
// own. Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "task/task.h"

namespace baton::protocol {

inline constexpr std::string_view kBatonExtension = "urn:baton:a2a:1";
inline constexpr std::string_view kBatonExtensionText =
    "Numbers of events: a stream says which numbers of the task's log each event covers (eventNumbers), and "
    "a "
    "subscription begins at any of them (startAt).";

// What a request asks about the numbers in its stream.
struct NumbersWish {
  bool every = false;                         // eventNumbers
  std::optional<task::EventNumber> start_at;  // the first event wanted, from 1
  bool given = false;                         // has the extension's member, even empty, or lastEventId
};

// Fails with invalid_argument and a text that begins with `name`, the path of the metadata.
base::Result<NumbersWish> read_numbers_wish(json::Value metadata, const std::string& name);

// A request's metadata without the extension's member, which is for Baton and not for the task. `metadata` is
// an object or absent.
task::Json without_extension(json::Value metadata);

// An event's metadata with the first number that it covers. Replaces what an agent wrote under the URI.
task::Json with_from(const task::Json& metadata, task::EventNumber from);

}  // namespace baton::protocol
