// Requests to language models: POST {base}/chat/completions, as OpenAI defined it and many servers speak it.
//
// Threads: pure functions. See Dialect.
#pragma once

#include <string>
#include <string_view>

#include "protocol/models/shared/conversation.h"

namespace baton::protocol::models::chat_completions {

std::string write_request(const ModelRequest& request);

bool is_own_member(std::string_view name);

bool is_about_extras(std::string_view reason);

}  // namespace baton::protocol::models::chat_completions
