// Requests to language models: POST {base}/messages, Anthropic's Messages API.
//
// Threads: pure functions. See Dialect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/models/shared/conversation.h"

namespace baton::protocol::models::anthropic {

// The name, in a message's `others`, of the order of the answer's blocks.
constexpr std::string_view kBlocks = "anthropic blocks";

// The API wants a limit of each answer's tokens. This one counts if the parameters have no `max_tokens`.
constexpr std::int64_t kTokensMax = 8'192;

std::string write_request(const ModelRequest& request);

bool is_own_member(std::string_view name);

}  // namespace baton::protocol::models::anthropic
