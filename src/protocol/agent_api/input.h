// The items of a request's `input`.
#pragma once

#include <vector>

#include "json/document.h"
#include "protocol/agent_api/fields.h"
#include "protocol/chat/run_request.h"

namespace baton::protocol::agent_api {

// Fills message, results and answers of `request`. Returns the other items, such as system messages and old
// ones.
std::vector<json::Value> read_input(json::Value input, Fields& fields, chat::RunRequest& request);

}  // namespace baton::protocol::agent_api
