// The items of a request's `input`.
#pragma once

#include <vector>

#include "wire/agent_api/fields.h"
#include "wire/chat/run_request.h"
#include "wire/json/document.h"

namespace baton::wire::agent_api {

// Fills message, results and answers of `request`. Returns the other items, such as system messages and old
// ones.
std::vector<Value> read_input(Value input, Fields& fields, chat::RunRequest& request);

}  // namespace baton::wire::agent_api
