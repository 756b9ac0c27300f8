// The ids that clients of OpenAI's API see. Each names a task, and a place or an ask in its log, so that a
// client that sends one back needs no table here: resp_<task>, resp_<task>_<event>, msg_<task>_<event>,
// call_<task>_<ask>.
//
// Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "task/ids.h"

namespace baton::protocol::openai {

inline constexpr std::string_view kResponse = "resp", kMessage = "msg", kReasoning = "rs", kFunction = "fc",
                                  kCall = "call";

struct Name {
  std::string kind;
  task::TaskId task;
  std::string rest;  // an event's number or an ask; empty: none
};

std::string name_of(std::string_view kind, const task::TaskId& task, std::string_view rest = {});
// Nullopt if the text is no such id.
std::optional<Name> read_name(std::string_view text);

// A response is a run of a task: the one after event `before`.
std::string response_id(const task::TaskId& task, task::EventNumber before);
struct ResponseName {
  task::TaskId task;
  task::EventNumber before;
};
std::optional<ResponseName> read_response_id(std::string_view text);

}  // namespace baton::protocol::openai
