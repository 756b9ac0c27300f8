// A run's model usage in the form of a response: {"input_tokens", "output_tokens", "total_tokens",
// "details":[...]}.
#pragma once

#include <vector>

#include "json/writer.h"
#include "task/json.h"

namespace baton::protocol::agent_api {

// The value of `usage`. `used`: task::Usage of each turn or model.
void write_usage(json::Writer& out, const std::vector<task::Json>& used);

}  // namespace baton::protocol::agent_api
